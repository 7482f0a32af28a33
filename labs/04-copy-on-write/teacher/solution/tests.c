/* A process does not see the other one's writes behind a fork. */
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE  4096UL
#define PAGES 20

static unsigned long seed;

static unsigned char *map(void)
{
    return mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void fill(unsigned char *p, unsigned how)
{
    for (unsigned long i = 0; i < PAGES * PAGE; i += 64)
        p[i] = (unsigned char)(how + i / 64);
}

static int holds(const unsigned char *p, unsigned how)
{
    for (unsigned long i = 0; i < PAGES * PAGE; i += 64)
        if (p[i] != (unsigned char)(how + i / 64))
            return 0;
    return 1;
}

static int status_of(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void the_child_has_its_own(void)
{
    unsigned char *p = map();
    pid_t pid;

    fill(p, (unsigned)seed);
    if ((pid = fork()) == 0) {
        int same = holds(p, (unsigned)seed);

        fill(p, (unsigned)seed + 1);
        _exit(!(same && holds(p, (unsigned)seed + 1)));
    }
    CHECK(status_of(pid) == 0);
    CHECK(holds(p, (unsigned)seed));
}

static void the_parent_has_its_own(void)
{
    unsigned char *p = map();
    int go[2];
    char c;
    pid_t pid;

    CHECK(pipe(go) == 0);
    fill(p, (unsigned)seed);
    if ((pid = fork()) == 0) {
        close(go[1]);
        if (read(go[0], &c, 1) != 0)
            _exit(1);
        _exit(!holds(p, (unsigned)seed));
    }
    fill(p, (unsigned)seed + 7);
    close(go[0]);
    close(go[1]);
    CHECK(status_of(pid) == 0);
    CHECK(holds(p, (unsigned)seed + 7));
}

static void grandchildren_too(void)
{
    unsigned char *p = map();
    pid_t pid;

    fill(p, 3);
    if ((pid = fork()) == 0) {
        if ((pid = fork()) == 0) {
            fill(p, 5);
            _exit(!holds(p, 5));
        }
        _exit(!(status_of(pid) == 0 && holds(p, 3)));
    }
    CHECK(status_of(pid) == 0);
    CHECK(holds(p, 3));
}

/* The kernel writes to the page on behalf of the program: read(2) into it. */
static void system_calls_write_a_copy_too(void)
{
    unsigned char *p = map();
    int way[2];
    pid_t pid;

    fill(p, 9);
    CHECK(pipe(way) == 0 && write(way[1], "abcdefgh", 8) == 8);
    if ((pid = fork()) == 0)
        _exit(!(read(way[0], p, 8) == 8 && memcmp(p, "abcdefgh", 8) == 0));
    CHECK(status_of(pid) == 0);
    CHECK(holds(p, 9));
}

static void shared_memory_stays_shared(void)
{
    int flags = MAP_SHARED | MAP_ANONYMOUS;
    unsigned char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);
    pid_t pid;

    p[0] = 1;
    if ((pid = fork()) == 0) {
        p[0] = 2;
        _exit(0);
    }
    CHECK(status_of(pid) == 0);
    CHECK(p[0] == 2);
}

/* Together more pages than the machine has. */
static void pages_are_given_back(void)
{
    unsigned long size = 256 * PAGE;
    unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    for (int round = 0; round < 24; round++) {
        pid_t pid = fork();

        CHECK(pid >= 0);
        for (unsigned long i = 0; i < size; i += PAGE)
            p[i] = (unsigned char)round;
        if (pid == 0)
            _exit(0);
        CHECK(status_of(pid) == 0);
    }
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    RUN(the_child_has_its_own);
    RUN(the_parent_has_its_own);
    RUN(grandchildren_too);
    RUN(system_calls_write_a_copy_too);
    RUN(shared_memory_stays_shared);
    RUN(pages_are_given_back);
    DONE();
}

/* Files that shrink under their mappings: SIGBUS behind the end, zeros after growing again. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE       4096
#define FILE_PAGES 4

static sigjmp_buf out;
static volatile int bus_errors;

static void on_bus(int sig)
{
    (void)sig;
    bus_errors++;
    siglongjmp(out, 1);
}

/* 1 when reading (or, with write, storing) at p is a SIGBUS. */
static int bus(volatile char *p, int write)
{
    if (sigsetjmp(out, 1))
        return 1;
    if (write)
        *p = 'w';
    else
        (void)*p;
    return 0;
}

/* A file of FILE_PAGES pages full of 'A'. */
static int new_file(void)
{
    static char page[PAGE];
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);

    memset(page, 'A', sizeof(page));
    for (int i = 0; fd >= 0 && i < FILE_PAGES; i++)
        if (write(fd, page, PAGE) != PAGE)
            return -1;
    return fd;
}

static char *map(int fd, int flags)
{
    return mmap(NULL, FILE_PAGES * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void touched_pages_go_with_the_end(void)
{
    for (int private = 0; private < 2; private ++) {
        int fd = new_file();
        char *m = map(fd, private ? MAP_PRIVATE : MAP_SHARED);

        CHECK(fd >= 0 && m != MAP_FAILED && m[0] == 'A' && m[2 * PAGE] == 'A');
        m[3 * PAGE] = 'B'; /* private: a copy of our own, which goes as well */
        CHECK(ftruncate(fd, PAGE) == 0);
        CHECK(bus(m + PAGE, 0) && bus(m + 2 * PAGE, 1) && bus(m + 3 * PAGE, 0) && !bus(m, 1));
        CHECK(ftruncate(fd, FILE_PAGES * PAGE) == 0);
        CHECK(!bus(m + 3 * PAGE, 0) && m[PAGE] == 0 && m[3 * PAGE] == 0 && m[0] == 'w');
        munmap(m, FILE_PAGES * PAGE), close(fd);
    }
}

static void a_part_of_a_page_becomes_zeros(void)
{
    int fd = new_file();
    char *m = map(fd, MAP_SHARED), c[2];

    CHECK(m[PAGE + 99] == 'A' && ftruncate(fd, PAGE + 100) == 0);
    CHECK(m[PAGE + 99] == 'A' && m[PAGE + 100] == 0 && bus(m + 2 * PAGE, 0));
    CHECK(ftruncate(fd, 2 * PAGE) == 0 && pread(fd, c, 2, PAGE + 99) == 2);
    CHECK(c[0] == 'A' && c[1] == 0);
    munmap(m, FILE_PAGES * PAGE), close(fd);
}

/* A mapping that starts in the middle, one that was moved, one cut in two. */
static void every_kind_of_area_is_found(void)
{
    int fd = new_file();
    char *high = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 2 * PAGE);
    char *moved = map(fd, MAP_SHARED), *cut = map(fd, MAP_SHARED), *place;

    place = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < FILE_PAGES; i++)
        CHECK(moved[i * PAGE] == 'A' && cut[i * PAGE] == 'A' && high[i / 2 * PAGE] == 'A');
    moved =
        mremap(moved, FILE_PAGES * PAGE, FILE_PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    CHECK(moved == place && munmap(cut + PAGE, PAGE) == 0);
    CHECK(ftruncate(fd, 2 * PAGE) == 0);
    CHECK(bus(high, 0) && bus(high + PAGE, 0));
    CHECK(!bus(moved + PAGE, 1) && bus(moved + 2 * PAGE, 0) && bus(moved + 3 * PAGE, 1));
    CHECK(!bus(cut, 0) && bus(cut + 2 * PAGE, 0) && bus(cut + 3 * PAGE, 0));
    munmap(place, 64 * PAGE), munmap(cut, FILE_PAGES * PAGE), munmap(high, 2 * PAGE), close(fd);
}

static void children_lose_the_pages_too(void)
{
    int fd = new_file(), go[2], ready[2], status;
    char *m = map(fd, MAP_SHARED), *p = map(fd, MAP_PRIVATE), c;

    p[3 * PAGE] = 'P'; /* shared with the child by copy on write */
    CHECK(m[3 * PAGE] == 'A' && pipe(go) == 0 && pipe(ready) == 0);
    pid_t pid = fork();
    if (!pid) {
        c = m[3 * PAGE] + p[3 * PAGE];
        close(go[1]);
        if (write(ready[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
            _exit(9);
        _exit(!bus(m + 3 * PAGE, 0) + 2 * !bus(p + 3 * PAGE, 0) + 4 * bus(m, 0));
    }
    CHECK(read(ready[0], &c, 1) == 1 && ftruncate(fd, PAGE) == 0 && write(go[1], "x", 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(go[0]), close(go[1]), close(ready[0]), close(ready[1]), close(fd);
    munmap(m, FILE_PAGES * PAGE), munmap(p, FILE_PAGES * PAGE);
}

static void the_kernel_sees_the_end_too(void)
{
    int fd = new_file(), p[2];
    char *m = map(fd, MAP_SHARED);

    CHECK(pipe(p) == 0 && m[PAGE] == 'A' && ftruncate(fd, PAGE) == 0);
    CHECK(write(p[1], m + PAGE, 8) == -1 && errno == EFAULT);
    CHECK(write(p[1], m + PAGE - 4, 8) == 4 || errno == EFAULT);
    close(p[0]), close(p[1]), close(fd), munmap(m, FILE_PAGES * PAGE);
}

/* Another thread, on another hart if there is one, has the page in its TLB. */
static volatile char *watched;
static volatile int seen, stop;

static void *watch(void *arg)
{
    (void)arg;
    while (!stop)
        seen = *watched;
    return NULL;
}

static void wait_seen(int what)
{
    while (seen != what)
        sched_yield();
}

/* Page 0 stays mapped all the time; its truncated part must read as zeros after growing. */
static void other_threads_see_no_stale_page(void)
{
    int fd = new_file();
    char *m = map(fd, MAP_SHARED);
    pthread_t t;

    CHECK(m != MAP_FAILED && ftruncate(fd, 1) == 0); /* page 0 stays, its tail is cut and grows */
    m[100] = 0;
    watched = m + 100;
    stop = 0;
    seen = -1;
    CHECK(pthread_create(&t, NULL, watch, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        char c = 'a' + i % 3;

        CHECK(ftruncate(fd, 200) == 0 && pwrite(fd, &c, 1, 100) == 1);
        wait_seen(c);
        CHECK(ftruncate(fd, 50) == 0);
        wait_seen(0);
    }
    stop = 1;
    pthread_join(t, NULL);
    munmap(m, FILE_PAGES * PAGE), close(fd);
}

static void *provoke_bus(void *arg)
{
    volatile char *m = arg;
    static __thread int n;

    for (n = 0; n < 300; n++)
        m[PAGE] = 'T'; /* SIGBUS is ignored by growing the file in the handler */
    return NULL;
}

static int bus_fd;
static void grow_on_bus(int sig)
{
    (void)sig;
    bus_errors++;
    if (ftruncate(bus_fd, 2 * PAGE))
        _exit(3);
}

static void threads_fault_while_it_shrinks_and_grows(void)
{
    struct sigaction sa = {.sa_handler = grow_on_bus}, old;
    int fd = bus_fd = new_file(), status;
    char *m = map(fd, MAP_SHARED);
    pthread_t t[3];
    char c;

    CHECK(sigaction(SIGBUS, &sa, &old) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&t[i], NULL, provoke_bus, m) == 0);
    for (int i = 0; i < 40; i++) {
        pid_t pid = i % 4 ? 0 : fork();

        if (i % 4 == 0 && !pid)
            _exit(0);
        CHECK(ftruncate(fd, 0) == 0);
        CHECK(ftruncate(fd, 2 * PAGE) == 0 && pread(fd, &c, 1, PAGE) == 1);
        CHECK(c == 0 || c == 'T'); /* 'A' would be a page from before */
        if (pid)
            waitpid(pid, &status, 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    sigaction(SIGBUS, &old, NULL);
    munmap(m, FILE_PAGES * PAGE), close(fd);
}

/* The page leaves the other hart's TLB: the watching thread must get its SIGBUS. */
static void other_threads_get_the_signal(void)
{
    struct sigaction sa = {.sa_handler = grow_on_bus}, old;
    int fd = bus_fd = new_file();
    char *m = map(fd, MAP_SHARED);
    pthread_t t;

    CHECK(sigaction(SIGBUS, &sa, &old) == 0);
    watched = m + PAGE;
    stop = 0;
    seen = -1;
    CHECK(pthread_create(&t, NULL, watch, NULL) == 0);
    wait_seen('A');
    for (int i = 0; i < 10; i++) {
        int before = bus_errors;

        CHECK(ftruncate(fd, PAGE) == 0);
        while (bus_errors == before)
            sched_yield();
        seen = -1;
        wait_seen(0); /* the handler has grown the file and the thread goes on */
    }
    stop = 1;
    pthread_join(t, NULL);
    sigaction(SIGBUS, &old, NULL);
    munmap(m, FILE_PAGES * PAGE), close(fd);
}

int main(void)
{
    struct sigaction sa = {.sa_handler = on_bus};

    sigaction(SIGBUS, &sa, NULL);
    RUN(touched_pages_go_with_the_end);
    RUN(a_part_of_a_page_becomes_zeros);
    RUN(every_kind_of_area_is_found);
    RUN(children_lose_the_pages_too);
    RUN(the_kernel_sees_the_end_too);
    RUN(other_threads_see_no_stale_page);
    RUN(threads_fault_while_it_shrinks_and_grows);
    RUN(other_threads_get_the_signal);
    DONE();
}

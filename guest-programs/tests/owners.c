/*
 * Processes map pages, mark them, and give them back, again and again: a page must never belong to
 * two of them. They are processes, because the lock of one address space would order its threads.
 *
 *     owners [rounds]
 */
#include "check.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define PROCESSES 3
#define PAGES     24
#define WORDS     (4096 / sizeof(long))

static int rounds = 100;

/* The number of pages that hold the mark of another process. */
static int use_pages(long mark)
{
    int wrong = 0;

    for (int r = 0; r < rounds; r++) {
        volatile long *p =
            mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        for (int i = 0; i < PAGES; i++)
            p[i * WORDS] = mark;
        for (int i = 0; i < PAGES; i++)
            wrong += p[i * WORDS] != mark;
        munmap((void *)p, PAGES * 4096);
    }
    return wrong;
}

static void a_page_has_one_owner(void)
{
    int status, bad = 0, ended = 0;

    for (long i = 1; i <= PROCESSES; i++)
        if (fork() == 0)
            _exit(use_pages(i) > 0);
    for (; wait(&status) > 0; ended++)
        bad |= status;
    CHECK(bad == 0 && ended == PROCESSES);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    RUN(a_page_has_one_owner);
    DONE();
}

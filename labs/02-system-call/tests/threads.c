/* One thread changes the areas; the others count. */
#include "../check.h"
#include <pthread.h>
#include <sys/mman.h>

#define PAGE     4096UL
#define PAGES    8
#define ROUNDS   2
#define STEPS    40
#define COUNTERS 2

static char *volatile area;
static volatile int over;

/* Each call sees one moment: all of an area or nothing of it, or that it is not there. */
static void *count(void *unused)
{
    while (!over) {
        char *p = area;
        long n = p ? syscall(500, p, PAGES * PAGE) : 0;

        if (n != 0 && n != PAGES && !(n == -1 && errno == ENOMEM))
            return (void *)1;
    }
    return unused;
}

static char *map(void *addr, int flags)
{
    return mmap(addr, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                0);
}

/* A mapping in place of another one is made in one step, and so are all of its pages. */
static void replace_and_unmap(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        char *p = map(NULL, MAP_POPULATE);

        CHECK(p != MAP_FAILED);
        area = p;
        for (int i = 0; i < STEPS; i++)
            CHECK(map(p, MAP_FIXED | (i % 2 ? MAP_POPULATE : 0)) == p);
        CHECK(munmap(p, PAGES * PAGE) == 0);
    }
}

static void while_others_count(void)
{
    pthread_t threads[COUNTERS];
    void *bad = NULL;

    for (int i = 0; i < COUNTERS; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    replace_and_unmap();
    over = 1;
    for (int i = 0; i < COUNTERS; i++) {
        void *end;

        pthread_join(threads[i], &end);
        bad = end ? end : bad;
    }
    CHECK(!bad);
}

int main(void)
{
    RUN(while_others_count);
    DONE();
}

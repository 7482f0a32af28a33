/* Which pages are touched follows from the number on the command line. */
#include "../check.h"
#include <sys/mman.h>

#define PAGE  4096UL
#define PAGES 64

static unsigned long state;

static long resident(void *addr, unsigned long len)
{
    return syscall(500, addr, len);
}

static unsigned long next(void)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return state >> 33;
}

static void ranges(void)
{
    static char touched[PAGES];
    char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    for (int i = 0; i < PAGES; i++)
        if ((touched[i] = next() % 3 == 0))
            p[i * PAGE] = 1;
    for (int round = 0; round < 50; round++) {
        unsigned long first = next() % PAGES, len = 1 + next() % ((PAGES - first) * PAGE);
        long expected = 0;

        for (unsigned long i = first; i * PAGE < first * PAGE + len; i++)
            expected += touched[i];
        CHECK(resident(p + first * PAGE, len) == expected);
    }
}

static void nothing(void)
{
    char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(resident(p, 0) == 0);
    CHECK(resident(p, PAGE) == 0);
}

static void far_away(void)
{
    char *p = mmap((void *)0x2000000000UL, 16 * PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    CHECK(p != MAP_FAILED);
    CHECK(resident(p, 16 * PAGE) == 0); /* there is no table for it yet */
    p[15 * PAGE] = 1;
    CHECK(resident(p, 16 * PAGE) == 1);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    RUN(ranges);
    RUN(nothing);
    RUN(far_away);
    DONE();
}

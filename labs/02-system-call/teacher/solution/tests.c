#include "check.h"
#include <pthread.h>
#include <sys/mman.h>

#define PAGE 4096
#define TOP  0x4000000000UL

static long resident(void *addr, unsigned long len)
{
    return syscall(500, addr, len);
}

static char *map(int pages)
{
    return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void touched_pages_count(void)
{
    char *p = map(8);

    CHECK(resident(p, 8 * PAGE) == 0);
    p[0] = p[3 * PAGE] = p[7 * PAGE] = 1;
    CHECK(resident(p, 8 * PAGE) == 3);
    CHECK(resident(p, 7 * PAGE) == 2);
    CHECK(resident(p + PAGE, 2 * PAGE) == 0);
    CHECK(resident(p + PAGE, 2 * PAGE + 1) == 1);
    CHECK(resident(p, 1) == 1);
    CHECK(resident(p, 0) == 0);
}

static void holes_are_refused(void)
{
    char *p = map(4);

    CHECK(munmap(p + 2 * PAGE, PAGE) == 0);
    CHECK(resident(p, 2 * PAGE) == 0);
    CHECK(resident(p, 3 * PAGE) == -1 && errno == ENOMEM);
    CHECK(resident(p + 3 * PAGE, PAGE) == 0);
    CHECK(resident(p + 3 * PAGE, PAGE) == 0);
}

static void arguments_are_checked(void)
{
    char *p = map(1);

    CHECK(resident(p + 1, PAGE) == -1 && errno == EINVAL);
    CHECK(resident(p, -1UL) == -1 && errno == ENOMEM);
    CHECK(resident(p, TOP) == -1 && errno == ENOMEM);
    CHECK(resident((void *)TOP, 0) == 0);
    CHECK(resident((void *)(TOP + PAGE), 0) == -1 && errno == ENOMEM);
    CHECK(resident((void *)-PAGE, 2 * PAGE) == -1 && errno == ENOMEM);
}

int main(void)
{
    RUN(touched_pages_count);
    RUN(holes_are_refused);
    RUN(arguments_are_checked);
    DONE();
}

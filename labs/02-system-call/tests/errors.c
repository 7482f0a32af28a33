#include "../check.h"
#include <sys/mman.h>

#define PAGE 4096UL
#define TOP  0x4000000000UL

static long resident(unsigned long addr, unsigned long len)
{
    return syscall(500, addr, len);
}

static unsigned long map(int pages)
{
    return (unsigned long)mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void an_address_inside_of_a_page(void)
{
    unsigned long p = map(2);

    for (int i = 1; i < 4096; i += 1023)
        CHECK(resident(p + i, 1) == -1 && errno == EINVAL);
}

static void a_hole(void)
{
    unsigned long p = map(3);

    CHECK(munmap((void *)(p + PAGE), PAGE) == 0);
    CHECK(resident(p, 3 * PAGE) == -1 && errno == ENOMEM);
    CHECK(resident(p, PAGE) == 0);
}

static void the_end_of_user_space(void)
{
    CHECK(resident(TOP, PAGE) == -1 && errno == ENOMEM);
    CHECK(resident(TOP + PAGE, 0) == -1 && errno == ENOMEM);
    CHECK(resident(-PAGE, 2 * PAGE) == -1 && errno == ENOMEM);
    CHECK(resident(0xffffffff80200000UL, PAGE) == -1 && errno == ENOMEM);
}

static void a_length_that_overflows(void)
{
    unsigned long p = map(1);

    CHECK(resident(p, -1UL) == -1 && errno == ENOMEM);
    CHECK(resident(p, -p) == -1 && errno == ENOMEM);
    CHECK(resident(p, TOP) == -1 && errno == ENOMEM);
}

int main(void)
{
    RUN(an_address_inside_of_a_page);
    RUN(a_hole);
    RUN(the_end_of_user_space);
    RUN(a_length_that_overflows);
    DONE();
}

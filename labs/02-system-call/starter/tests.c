/* Your tests of resident(2). They must pass on a right kernel, and fail on a wrong one. */
#include "check.h"
#include <sys/mman.h>

#define PAGE 4096

static long resident(void *addr, unsigned long len)
{
    return syscall(500, addr, len);
}

static void nothing_was_touched(void)
{
    char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(p != MAP_FAILED);
    CHECK(resident(p, 4 * PAGE) == 0);
}

int main(void)
{
    RUN(nothing_was_touched);
    DONE();
}

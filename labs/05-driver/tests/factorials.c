/* The numbers follow from the one on the command line. */
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>

#define EDU_FACTORIAL 0xc0044501u

static unsigned long state;

static unsigned expected(unsigned n)
{
    return n < 2 ? 1 : n * expected(n - 1);
}

static void factorials(void)
{
    int fd = open("/dev/edu", O_RDWR);

    CHECK(fd >= 0);
    for (int i = 0; i < 20; i++) {
        unsigned n, value;

        state = state * 6364136223846793005UL + 1442695040888963407UL;
        n = value = (state >> 33) % 30;
        CHECK(ioctl(fd, EDU_FACTORIAL, &value) == 0);
        CHECK(value == expected(n));
    }
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    RUN(factorials);
    DONE();
}

/* Four processes use the device at a time, and read its history meanwhile. */
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#define EDU_FACTORIAL 0xc0044501u

static unsigned long state;

static unsigned expected(unsigned n)
{
    return n < 2 ? 1 : n * expected(n - 1);
}

static int compute(unsigned first)
{
    unsigned past[16];
    int fd = open("/dev/edu", O_RDWR);

    for (unsigned i = 0; i < 15; i++) {
        unsigned n = (first + 7 * i) % 25, value = n;

        if (ioctl(fd, EDU_FACTORIAL, &value) != 0 || value != expected(n))
            return 1;
        if (read(fd, past, sizeof(past)) <= 0)
            return 1;
    }
    return 0;
}

static void each_gets_its_own(void)
{
    int status, failed = 0;

    for (unsigned i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(compute(state + 3 * i));
    for (int i = 0; i < 4; i++)
        failed |= wait(&status) < 0 || status != 0;
    CHECK(!failed);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) % 25 : 1;
    RUN(each_gets_its_own);
    DONE();
}

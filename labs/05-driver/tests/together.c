/* Four processes use the device at a time: each gets its own results. */
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EDU_FACTORIAL 0xc0044501u

static unsigned long state;

static unsigned expected(unsigned n)
{
    return n < 2 ? 1 : n * expected(n - 1);
}

static int compute(unsigned first)
{
    int fd = open("/dev/edu", O_RDWR);

    for (unsigned i = 0; i < 15; i++) {
        unsigned n = (first + 7 * i) % 25, value = n;

        if (ioctl(fd, EDU_FACTORIAL, &value) != 0 || value != expected(n))
            return 1;
    }
    return 0;
}

/* Where it runs, no other process can: one that is interrupted has to wait for its turn. */
static pid_t keep_busy(volatile int *ends)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    while (!*ends) {
        for (volatile int i = 0; i < 10000; i++)
            ;
        usleep(100);
    }
    _exit(0);
}

static void each_gets_its_own(void)
{
    volatile int *ends =
        mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status, failed = 0;
    pid_t busy = keep_busy(ends), pids[4];

    for (unsigned i = 0; i < 4; i++)
        if ((pids[i] = fork()) == 0)
            _exit(compute(state + 3 * i));
    for (int i = 0; i < 4; i++)
        failed |= waitpid(pids[i], &status, 0) < 0 || status != 0;
    *ends = 1;
    CHECK(!failed);
    CHECK(waitpid(busy, &status, 0) == busy && status == 0);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoul(argv[1], NULL, 10) % 25 : 1;
    RUN(each_gets_its_own);
    DONE();
}

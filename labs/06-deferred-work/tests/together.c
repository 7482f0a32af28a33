/* Four processes use the device at a time, and read its history meanwhile. */
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define EDU_FACTORIAL 0xc0044501u

#define PROCESSES 4
#define NUMBERS   6 /* of each process, in their order again and again */

static unsigned long state;

static unsigned factorials[1 + PROCESSES * NUMBERS];

/* No two processes have a number in common, and no two numbers a factorial. */
static unsigned number(unsigned process, unsigned i)
{
    return 1 + process + PROCESSES * (i % NUMBERS);
}

/* The results of each process are in its order: none is there twice, and none is missing. */
static int are_in_order(const unsigned *past, long count)
{
    int last[PROCESSES] = {-1, -1, -1, -1};

    for (long at = 0; at < count; at++) {
        unsigned n = 1;

        while (n <= PROCESSES * NUMBERS && factorials[n] != past[at])
            n++;
        if (n > PROCESSES * NUMBERS)
            return 0;
        int process = (n - 1) % PROCESSES, i = (n - 1) / PROCESSES;

        if (last[process] >= 0 && i != (last[process] + 1) % NUMBERS)
            return 0;
        last[process] = i;
    }
    return 1;
}

static int compute(unsigned process)
{
    unsigned past[16];
    int fd = open("/dev/edu", O_RDWR);

    for (unsigned i = 0; i < 15; i++) {
        unsigned n = number(process, state + i), value = n;

        if (ioctl(fd, EDU_FACTORIAL, &value) != 0 || value != factorials[n])
            return 1;
        for (int reads = 0; reads < 2; reads++) {
            long size = read(fd, past, sizeof(past));

            if (size <= 0 || !are_in_order(past, size / 4))
                return 2;
        }
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
    pid_t busy = keep_busy(ends), pids[PROCESSES];

    for (unsigned i = 0; i < PROCESSES; i++)
        if ((pids[i] = fork()) == 0)
            _exit(compute(i));
    for (int i = 0; i < PROCESSES; i++)
        failed |= waitpid(pids[i], &status, 0) < 0 || status != 0;
    *ends = 1;
    CHECK(!failed);
    CHECK(waitpid(busy, &status, 0) == busy && status == 0);
}

int main(int argc, char **argv)
{
    factorials[0] = 1;
    for (unsigned n = 1; n <= PROCESSES * NUMBERS; n++)
        factorials[n] = n * factorials[n - 1];
    state = argc > 1 ? strtoul(argv[1], NULL, 10) % NUMBERS : 1;
    RUN(each_gets_its_own);
    DONE();
}

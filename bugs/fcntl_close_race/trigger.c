#include "../trigger.h"
#include <pthread.h>

static int fd;
static volatile int begun, locked;

/* Takes a while that differs from call to call. */
static void delay(unsigned *seed)
{
    for (volatile int left = rand_r(seed) % 4000; left > 0; left--)
        ;
}

static void *locker(void *arg)
{
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    unsigned seed = 1;
    for (int round = 1; round <= 400; round++) {
        while (begun != round)
            sched_yield();
        delay(&seed);
        fcntl(fd, F_SETLK, &lock);
        locked = round;
    }
    return arg;
}

/* Another process sees a lock although no descriptor of the file is open. */
static void check(volatile int *round, volatile int *seen)
{
    int other = (int)NEED(open("/locked", O_RDWR));
    for (;;) {
        struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
        while (*seen == *round)
            sched_yield();
        NEED(fcntl(other, F_GETLK, &lock));
        *seen = lock.l_type == F_UNLCK ? *round : -1;
    }
}

int main(void)
{
    volatile int *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned seed = 2;
    pthread_t thread;
    close((int)NEED(open("/locked", O_RDWR | O_CREAT, 0600)));
    if (NEED(fork()) == 0)
        check(&shared[0], &shared[1]);
    pthread_create(&thread, NULL, locker, NULL);
    for (int round = 1; round <= 400; round++) {
        fd = (int)NEED(open("/locked", O_RDWR));
        begun = round;
        delay(&seed);
        close(fd);
        while (locked != round)
            sched_yield();
        shared[0] = round;
        while (shared[1] != round)
            if (sched_yield() == 0 && shared[1] == -1)
                WRONG("a record lock outlives all descriptors of its file");
    }
    return 0;
}

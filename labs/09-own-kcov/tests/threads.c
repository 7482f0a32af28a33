/* One thread records; its siblings and children do not, and no thread is faster than the kernel. */
#include "kcov.h"
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

static int go[2];

static void *busy(void *arg)
{
    char c;

    while (read(go[0], &c, 1) == 1)
        for (int i = 0; i < 20; i++)
            getppid();
    return arg;
}

/* Records of the same call, many times: a sibling adds none. */
static void siblings_are_not_recorded(void)
{
    unsigned long *area, once = 0;
    pthread_t thread;
    int fd = open_kcov(WORDS, &area);

    CHECK(fd >= 0 && pipe(go) == 0);
    CHECK(pthread_create(&thread, NULL, busy, NULL) == 0);
    CHECK(enable(fd) == 0);
    for (int i = 0; i < 3; i++) { /* the first round also has page faults */
        area[0] = 0;
        getpid();
        read(-1, NULL, 0);
        once = area[0];
    }
    CHECK(once > 4 && once < 500);
    for (int i = 0; i < 200; i++) {
        if (i % 8 == 0)
            write(go[1], "x", 1);
        area[0] = 0;
        getpid();
        read(-1, NULL, 0);
        CHECK(area[0] == once);
    }
    CHECK(ioctl(fd, KIODISABLE) == 0);
    close(go[1]);
    pthread_join(thread, NULL);
    close(go[0]);
    close(fd);
}

static void a_child_is_not_recorded(void)
{
    unsigned long *area, before;
    int fd = open_kcov(WORDS, &area), status;
    pid_t pid;

    CHECK(fd >= 0 && enable(fd) == 0);
    pid = fork();
    if (pid == 0) { /* it has nothing enabled, and may enable a descriptor of its own */
        unsigned long *own;
        int mine = open_kcov(WORDS, &own);

        _exit(ioctl(fd, KIODISABLE) != -1 || mine < 0 || enable(mine) != 0);
    }
    CHECK(ioctl(fd, KIODISABLE) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    before = area[0];
    read(-1, NULL, 0);
    CHECK(area[0] == before);
    close(fd);
}

static void *leave_enabled(void *arg)
{
    /* The one before may not have left the kernel when pthread_join returned. */
    for (int i = 0; i < 10000; i++) {
        if (enable(*(int *)arg) == 0)
            return NULL;
        sched_yield();
    }
    return arg;
}

static void the_owner_may_end(void)
{
    unsigned long *area;
    pthread_t thread;
    void *bad;
    int fd = open_kcov(WORDS, &area);

    CHECK(fd >= 0);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&thread, NULL, leave_enabled, &fd) == 0);
        CHECK(pthread_join(thread, &bad) == 0 && !bad);
    }
    CHECK(!leave_enabled(&fd));
    area[0] = 0;
    read(-1, NULL, 0);
    CHECK(area[0] > 4);
    CHECK(ioctl(fd, KIODISABLE) == 0);
    close(fd);
}

static unsigned long *scribbled;
static volatile int ends;

static void *scribble(void *arg)
{
    while (!ends) {
        *(volatile unsigned long *)scribbled = 0;
        *(volatile unsigned long *)scribbled = 1UL << 40;
    }
    return arg;
}

/* The kernel checks the number that it uses, whatever another thread writes there meanwhile. */
static void the_count_may_change_at_any_time(void)
{
    pthread_t thread;
    int fd = open_kcov(WORDS, &scribbled);

    CHECK(fd >= 0 && enable(fd) == 0);
    CHECK(pthread_create(&thread, NULL, scribble, NULL) == 0);
    for (int i = 0; i < 200; i++)
        read(-1, NULL, 0);
    ends = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(ioctl(fd, KIODISABLE) == 0);
    CHECK(close(fd) == 0 && munmap(scribbled, WORDS * 8) == 0);
}

#define RACES 6
#define TIMES 8 /* that each descriptor is enabled */

static int raced[RACES], arrived, sized[RACES], enabled[RACES];

/* Both threads go on when both are here. */
static void meet(int times)
{
    __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < 2 * times)
        ;
}

static void *race(void *arg)
{
    unsigned long words = WORDS;
    int times = 0;

    for (int i = 0; i < RACES; i++) {
        meet(++times);
        if (ioctl(raced[i], KIOSETBUFSIZE, &words) == 0)
            __atomic_add_fetch(&sized[i], 1, __ATOMIC_SEQ_CST);
        for (int j = 0; j < TIMES; j++) {
            meet(++times);
            int is_mine = enable(raced[i]) == 0;

            if (is_mine)
                __atomic_add_fetch(&enabled[i], 1, __ATOMIC_SEQ_CST);
            meet(++times);
            if (is_mine)
                ioctl(raced[i], KIODISABLE);
        }
    }
    return arg;
}

static void of_two_threads_one_is_first(void)
{
    pthread_t thread;
    int right = 1;

    for (int i = 0; i < RACES; i++)
        CHECK((raced[i] = open("/dev/kcov", O_RDWR)) >= 0);
    CHECK(pthread_create(&thread, NULL, race, NULL) == 0);
    race(NULL);
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < RACES; i++) {
        right &= sized[i] == 1 && enabled[i] == TIMES;
        right &= close(raced[i]) == 0;
    }
    CHECK(right);
}

int main(void)
{
    RUN(siblings_are_not_recorded);
    RUN(a_child_is_not_recorded);
    RUN(the_owner_may_end);
    RUN(the_count_may_change_at_any_time);
    RUN(of_two_threads_one_is_first);
    DONE();
}

/* The order of the commands, and an area that is full or has a nonsensical count. */
#include "kcov.h"
#include <pthread.h>

static void commands_have_an_order(void)
{
    unsigned long words = WORDS, none = 0, huge = 1UL << 40;
    int fd = open("/dev/kcov", O_RDWR), bad = 77;

    CHECK(fd >= 0);
    CHECK(enable(fd) == -1 && errno == ENXIO);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(ioctl(fd, KIOSETBUFSIZE, &none) == -1 && errno == EINVAL);
    CHECK(ioctl(fd, KIOSETBUFSIZE, &huge) == -1 && errno == EINVAL);
    CHECK(ioctl(fd, KIOSETBUFSIZE, &words) == 0);
    CHECK(ioctl(fd, KIOSETBUFSIZE, &words) == -1 && errno == EBUSY);
    CHECK(ioctl(fd, KIODISABLE) == -1 && errno == EPERM);
    CHECK(ioctl(fd, KIOENABLE, &bad) == -1 && errno == EINVAL);
    CHECK(ioctl(fd, 0x4b7f) == -1 && errno == ENOTTY);
    CHECK(mmap(NULL, WORDS * 8 + 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
    CHECK(close(fd) == 0);
}

static void a_thread_has_one_descriptor(void)
{
    unsigned long *a, *b;
    int first = open_kcov(WORDS, &a), second = open_kcov(WORDS, &b);

    CHECK(first >= 0 && second >= 0);
    CHECK(enable(first) == 0);
    CHECK(enable(first) == -1 && errno == EBUSY);
    CHECK(enable(second) == -1 && errno == EBUSY);
    CHECK(ioctl(second, KIODISABLE) == -1 && errno == EPERM);
    CHECK(ioctl(first, KIODISABLE) == 0);
    CHECK(enable(second) == 0);
    CHECK(ioctl(second, KIODISABLE) == 0);
    CHECK(close(first) == 0 && close(second) == 0);
}

static void a_full_area_stays_full(void)
{
    unsigned long *area;
    int fd = open_kcov(64, &area);

    CHECK(fd >= 0 && enable(fd) == 0);
    for (int i = 0; i < 100; i++)
        read(-1, NULL, 0);
    CHECK(area[0] == 63);
    CHECK(area[63] != 0 && area[64] == 0 && area[511] == 0);
    CHECK(ioctl(fd, KIODISABLE) == 0);
    CHECK(close(fd) == 0 && munmap(area, 4096) == 0);
}

static void the_count_is_not_trusted(void)
{
    unsigned long *area;
    int fd = open_kcov(64, &area);

    CHECK(fd >= 0 && enable(fd) == 0);
    area[0] = -1UL;
    read(-1, NULL, 0);
    area[0] = 1UL << 61;
    read(-1, NULL, 0);
    area[0] = 64;
    read(-1, NULL, 0);
    CHECK(area[0] == 64 && area[64] == 0);
    CHECK(ioctl(fd, KIODISABLE) == 0);
    CHECK(close(fd) == 0);
}

static volatile long spins, ends;

static void *spin(void *arg)
{
    while (!ends)
        spins++;
    return arg;
}

/* This loop enters the kernel by interrupts alone: the other thread has the processor only then. */
static void wait_for_the_other_thread(void)
{
    for (long was = spins; spins == was;)
        ;
}

static void an_interrupt_is_not_recorded(void)
{
    unsigned long *area;
    pthread_t thread;
    int fd = open_kcov(64, &area);

    CHECK(fd >= 0 && pthread_create(&thread, NULL, spin, NULL) == 0);
    CHECK(enable(fd) == 0);
    wait_for_the_other_thread(); /* its code is there now, and causes no page fault */
    area[0] = 0;
    wait_for_the_other_thread();
    CHECK(area[0] == 0);
    CHECK(ioctl(fd, KIODISABLE) == 0);
    ends = 1;
    pthread_join(thread, NULL);
    CHECK(close(fd) == 0);
}

int main(void)
{
    RUN(commands_have_an_order);
    RUN(a_thread_has_one_descriptor);
    RUN(a_full_area_stays_full);
    RUN(the_count_is_not_trusted);
    RUN(an_interrupt_is_not_recorded);
    DONE();
}

/*
 * References that the kernel lends to callbacks: threads use descriptors in every way that reaches
 * a driver's operations (mmap, ioctl, read, poll, epoll, kqueue, timers, plugging) while others
 * close them and put other files into their place. The results of calls are not checked; the kernel
 * must survive, and the checkers of a debug kernel must have nothing to report.
 *
 *     lent [rounds] [seed]
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "../../kernel/abi/edu.h"
#include "../include/bsd/event.h"

#define SLOTS   6
#define FIRST   40 /* the descriptors 40..45 are shared by all threads */
#define USERS   4
#define KQUEUE  20 /* never closed */
#define EPOLL   21
#define PASSING 22 /* and 23: a pair of sockets */

static unsigned long rounds = 1500, seed = 1;
static volatile int over;

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A new open file of a kind; -1 where the kernel has no such thing. */
static int make(unsigned kind)
{
    uint64_t words = 1024;
    sigset_t set;
    int fd, pair[2];

    switch (kind % 11) {
    default: /* kcov most often: the dialect's ioctl is one of three */
        fd = open("/dev/kcov", O_RDWR);
        if (fd < 0)
            fd = open("/sys/kernel/debug/kcov", O_RDWR);
        ioctl(fd, 0x80086301, words);
        ioctl(fd, 0x80084b01, &words);
        ioctl(fd, 0x20046304, words);
        return fd;
    case 1:
        return eventfd(0, EFD_NONBLOCK);
    case 2:
        return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    case 3:
        return pipe2(pair, O_NONBLOCK) ? -1 : (close(pair[1]), pair[0]);
    case 4:
        fd = memfd_create("lent", 0);
        return ftruncate(fd, 8192) ? -1 : fd;
    case 5:
        return open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    case 6:
        sigemptyset(&set);
        return signalfd(-1, &set, SFD_NONBLOCK);
    case 7:
        return epoll_create1(0);
    case 8:
        fd = open("/dev/toyusb", O_RDWR);
        return fd < 0 ? open("/dev/vhci0", O_RDWR) : fd;
    case 9:
        return open("/dev/edu", O_RDWR);
    }
}

static void map(int fd, uint64_t r)
{
    size_t bytes = r & 1 ? 8192 : 4096;
    int flags = MAP_SHARED | (r & 2 ? MAP_POPULATE : 0);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (p != MAP_FAILED)
        munmap(p, bytes);
}

static void watch(int fd, uint64_t r)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT, .data.fd = fd};
    struct kevent change = {.ident = (uintptr_t)fd,
                            .filter = r & 1 ? EVFILT_READ : EVFILT_VNODE,
                            .flags = r & 2 ? EV_ADD : EV_DELETE,
                            .fflags = NOTE_WRITE};
    struct timespec none = {0, 0};
    struct epoll_event got[4];
    struct kevent out[4];

    if (r & 4) {
        epoll_ctl(EPOLL, r & 8 ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, fd, &ev);
        epoll_wait(EPOLL, got, 4, 0);
    } else {
        kevent(KQUEUE, &change, 1, out, 4, &none);
    }
}

static void set_timers(int fd, uint64_t r)
{
    struct itimerspec soon = {{0, r & 1 ? 1000 : 0}, {0, 1 + r % 5000}};
    struct kevent change = {.ident = r % 3,
                            .filter = EVFILT_TIMER,
                            .flags = r & 2 ? EV_ADD : EV_DELETE,
                            .fflags = NOTE_USECONDS,
                            .data = 1 + (r >> 8) % 50};

    timerfd_settime(fd, 0, &soon, NULL);
    kevent(KQUEUE, &change, 1, NULL, 0, NULL);
}

/* Sends the descriptor to ourselves, where it waits until somebody receives. */
static void pass(int fd, uint64_t r)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {&byte, 1};
    struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
    struct cmsghdr *c;

    m.msg_controllen = sizeof(control);
    if (r & 1) {
        c = CMSG_FIRSTHDR(&m);
        *c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
        sendmsg(PASSING, &m, MSG_DONTWAIT);
    } else if (recvmsg(PASSING + 1, &m, MSG_DONTWAIT) == 1 && (c = CMSG_FIRSTHDR(&m))) {
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
        close(fd);
    }
}

static void use(int fd, uint64_t r)
{
    struct pollfd p = {fd, POLLIN | POLLOUT, 0};
    char bytes[64] = {18, 1, 0, 2};
    unsigned n = 5;

    switch (r % 9) {
    case 0:
    case 1:
        map(fd, r >> 8);
        break;
    case 2:
        poll(&p, 1, 0);
        break;
    case 3:
    case 4:
        watch(fd, r >> 8);
        break;
    case 5:
        set_timers(fd, r >> 8);
        break;
    case 6:
        pass(fd, r >> 8);
        break;
    case 7:
        if (write(fd, bytes, sizeof(bytes)) < 0 && r & 256)
            ioctl(fd, EDU_FACTORIAL, &n);
        break;
    case 8:
        if (fcntl(fd, F_GETFL) & O_NONBLOCK && read(fd, bytes, sizeof(bytes)) < 0)
            sched_yield();
        break;
    }
}

static void *user(void *arg)
{
    uint64_t state = seed * 1000003 + (uintptr_t)arg;

    while (!over) {
        uint64_t r = next(&state);
        use(FIRST + (int)(r % SLOTS), r >> 8);
    }
    return NULL;
}

static void files_change_under_their_users(void)
{
    uint64_t state = seed * 7919 + 5;
    pthread_t threads[USERS];
    int pair[2];

    CHECK(dup2((int)kqueue(), KQUEUE) == KQUEUE && dup2(epoll_create1(0), EPOLL) == EPOLL);
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    CHECK(dup2(pair[0], PASSING) == PASSING && dup2(pair[1], PASSING + 1) == PASSING + 1);
    for (uintptr_t i = 0; i < USERS; i++)
        CHECK(pthread_create(&threads[i], NULL, user, (void *)(i + 1)) == 0);
    for (unsigned long i = 0; i < rounds; i++) {
        uint64_t r = next(&state);
        int slot = FIRST + (int)(r % SLOTS), fd = make((unsigned)(r >> 8));

        if (fd < 0)
            continue;
        if (r & 1 << 20)
            close(slot); /* the slot is empty for a moment */
        if (dup2(fd, slot) != slot || close(fd))
            sched_yield();
    }
    over = 1;
    for (int i = 0; i < USERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void *open_relative(void *arg)
{
    struct stat st;

    while (!over) {
        int fd = open("status", O_RDONLY);

        if (fd >= 0)
            close(fd);
        fstatat(AT_FDCWD, "", &st, AT_EMPTY_PATH);
    }
    return arg;
}

/* An inode of /proc has no other reference than the current directory's. */
static void directories_change_under_their_users(void)
{
    pthread_t threads[2];

    over = 0;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, open_relative, NULL) == 0);
    for (unsigned long i = 0; i < 2 * rounds; i++)
        CHECK(chdir(i & 1 ? "/proc/1" : "/proc/self/fd") == 0);
    over = 1;
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(chdir("/") == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = strtoul(argv[1], NULL, 0);
    if (argc > 2)
        seed = strtoul(argv[2], NULL, 0);
    mount("debugfs", "/sys/kernel/debug", "debugfs", 0, "");
    RUN(files_change_under_their_users);
    RUN(directories_change_under_their_users);
    DONE();
}

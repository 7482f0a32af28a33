/* pair.h: pairs of pseudo-terminal ends, for the tests of terminals. */
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Linux's numbers; the BSD headers that a dialect brings would spell them another way. */
#undef TIOCGPTN
#undef TIOCSPTLCK
#undef TIOCGPTPEER
#define TIOCGPTN    0x80045430
#define TIOCSPTLCK  0x40045431
#define TIOCGPTPEER 0x5441

struct pair {
    int master, slave;
};

/* Open, unlocked, nobody's controlling terminal. */
static inline int open_pair(struct pair *p)
{
    char name[64];
    int unlock = 0;

    p->master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
    if (p->master < 0 || ioctl(p->master, TIOCSPTLCK, &unlock) != 0)
        return -1;
    if (ptsname_r(p->master, name, sizeof name) != 0)
        return -1;
    p->slave = open(name, O_RDWR | O_NOCTTY);
    return p->slave < 0 ? -1 : 0;
}

static void close_pair(struct pair *p)
{
    close(p->slave);
    close(p->master);
}

static inline int set_raw(int fd)
{
    struct termios t;

    if (tcgetattr(fd, &t) != 0)
        return -1;
    cfmakeraw(&t);
    return tcsetattr(fd, TCSANOW, &t);
}

static inline int set_nonblock(int fd)
{
    return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Reads until n bytes are there or nothing comes for a second. */
static inline int read_n(int fd, char *buf, int n)
{
    int got = 0;

    while (got < n) {
        struct pollfd p = {fd, POLLIN, 0};
        ssize_t more;

        if (poll(&p, 1, 1000) != 1 || (more = read(fd, buf + got, (size_t)(n - got))) <= 0)
            break;
        got += (int)more;
    }
    return got;
}

/* Is the next thing that fd gives exactly text? */
static inline int gives(int fd, const char *text)
{
    char buf[256];
    int n = (int)strlen(text);

    return read_n(fd, buf, n) == n && !memcmp(buf, text, (size_t)n);
}

static inline int sends(int fd, const char *text)
{
    return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static inline int events_of(int fd)
{
    struct pollfd p = {fd, POLLIN | POLLOUT | POLLPRI, 0};

    return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

/* Polls until the wanted events are there: a Linux moves bytes in a worker of its own. */
static inline int comes_to(int fd, int events)
{
    for (int i = 0; i < 200; i++) {
        if (events_of(fd) == events)
            return 1;
        usleep(5000);
    }
    return 0;
}

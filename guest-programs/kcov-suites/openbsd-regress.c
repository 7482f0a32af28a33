/*
 * Checks of OpenBSD's kcov(4) as that system's regression tests go about it: one function per
 * property, chosen by name, in each trace mode. Nothing here knows kcovbox: only system headers.
 *
 *     regress [-Ev] [-m pc|cmp] [NAME]...       -E: what the exec test executes
 */
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef nitems
#define nitems(a) (sizeof((a)) / sizeof((a)[0]))
#endif

struct trial {
    int fd;
    int mode;
    unsigned long nentries;
    unsigned long *area;
};

typedef int trial_fn(struct trial *);

static trial_fn t_close, t_coverage, t_dying, t_exec, t_fdsend, t_fork, t_mode, t_open;
static trial_fn t_overflow, t_state, t_thread;

static void call(void);
static void disable(int);
static void enable(int, int);
static int examine(const struct trial *, unsigned long, unsigned long);
static unsigned long *map(int, unsigned long);
static int start(unsigned long);
static __dead void usage(void);

static const struct {
    const char *name;
    trial_fn *fn;
    int least; /* records that the area must hold, or -1 */
} trials[] = {
    {"close", t_close, -1}, {"coverage", t_coverage, 1}, {"dying", t_dying, 1},
    {"exec", t_exec, 1},    {"fdsend", t_fdsend, 0},     {"fork", t_fork, 1},
    {"mode", t_mode, -1},   {"open", t_open, 0},         {"overflow", t_overflow, 1},
    {"state", t_state, 1},  {"thread", t_thread, 1},
};

static const char *myself;
static int verbose;

int main(int argc, char *argv[])
{
    static const struct {
        const char *name;
        int mode;
    } modes[] = {
        {"pc", KCOV_MODE_TRACE_PC},
        {"cmp", KCOV_MODE_TRACE_CMP},
    };
    const char *only = NULL;
    size_t i, m;
    int c, failed = 0, ran = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pledge("stdio rpath wpath proc exec sendfd recvfd", NULL) == -1)
        err(1, "pledge");
    myself = argv[0];
    while ((c = getopt(argc, argv, "Em:v")) != -1) {
        switch (c) {
        case 'E':
            call();
            return 0;
        case 'm':
            only = optarg;
            break;
        case 'v':
            verbose = 1;
            break;
        default:
            usage();
        }
    }
    argc -= optind;
    argv += optind;

    for (m = 0; m < nitems(modes); m++) {
        if (only != NULL && strcmp(only, modes[m].name) != 0)
            continue;
        for (i = 0; i < nitems(trials); i++) {
            struct trial t = {.mode = modes[m].mode, .nentries = 1 << 15};
            pid_t pid;
            int n, status, wanted = argc == 0;

            for (n = 0; n < argc; n++)
                wanted |= strcmp(argv[n], trials[i].name) == 0;
            if (!wanted)
                continue;
            ran++;
            pid = fork();
            if (pid == -1)
                err(1, "fork");
            if (pid == 0) {
                t.fd = start(t.nentries);
                t.area = map(t.fd, t.nentries);
                *t.area = 0;
                if (trials[i].fn(&t))
                    _exit(1);
                if (trials[i].least == 0 && *t.area != 0) {
                    warnx("%s: expected empty coverage, got %lu", trials[i].name, *t.area);
                    _exit(1);
                }
                _exit(trials[i].least > 0 && examine(&t, trials[i].least, ULONG_MAX));
            }
            if (waitpid(pid, &status, 0) == -1)
                err(1, "waitpid");
            if (status != 0) {
                printf("not ok %s %s (status 0x%x)\n", modes[m].name, trials[i].name, status);
                failed++;
            } else
                printf("ok %s %s\n", modes[m].name, trials[i].name);
        }
    }
    if (ran == 0)
        errx(1, "nothing to do");
    return failed != 0;
}

static __dead void usage(void)
{
    fprintf(stderr, "usage: %s [-Ev] [-m pc|cmp] [name ...]\n", getprogname());
    exit(1);
}

static int start(unsigned long nentries)
{
    int fd = open("/dev/kcov", O_RDWR | O_CLOEXEC);

    if (fd == -1)
        err(1, "open: /dev/kcov");
    if (ioctl(fd, KIOSETBUFSIZE, &nentries) == -1)
        err(1, "ioctl: KIOSETBUFSIZE");
    return fd;
}

static unsigned long *map(int fd, unsigned long nentries)
{
    void *p =
        mmap(NULL, nentries * sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        err(1, "mmap");
    return p;
}

static void enable(int fd, int mode)
{
    if (ioctl(fd, KIOENABLE, &mode) == -1)
        err(1, "ioctl: KIOENABLE");
}

static void disable(int fd)
{
    if (ioctl(fd, KIODISABLE) == -1)
        err(1, "ioctl: KIODISABLE");
}

/* A system call that does a little, with a comparison on its way. */
static void call(void)
{
    struct timespec ts = {0, 0};

    getpid();
    read(-1, NULL, 0);
    nanosleep(&ts, NULL);
}

/* Between least and most records, all of them well-formed. */
static int examine(const struct trial *t, unsigned long least, unsigned long most)
{
    unsigned long i, n = *t->area;

    if (n < least || n > most) {
        warnx("%lu records, expected %lu to %lu", n, least, most);
        return 1;
    }
    for (i = 0; i < n; i++) {
        if (t->mode == KCOV_MODE_TRACE_PC) {
            if (t->area[i + 1] == 0)
                goto bad;
            continue;
        }
        /* type, two operands, pc */
        if (t->area[i * 4 + 1] >> 1 > 3 || t->area[i * 4 + 4] == 0)
            goto bad;
    }
    return 0;
bad:
    warnx("record %lu is malformed", i);
    return 1;
}

/* Closing a descriptor that traces ends the tracing; the thread is not free before it exits. */
static int t_close(struct trial *t)
{
    unsigned long n;
    int fd, mode = t->mode;

    enable(t->fd, t->mode);
    close(t->fd);
    *t->area = 0;
    call();
    n = *t->area;
    if (n != 0) {
        warnx("%lu records after close", n);
        return 1;
    }
    fd = start(t->nentries);
    if (ioctl(fd, KIOENABLE, &mode) == 0 || errno != EBUSY) {
        warn("enable after close: expected EBUSY");
        return 1;
    }
    return 0;
}

static int t_coverage(struct trial *t)
{
    enable(t->fd, t->mode);
    call();
    disable(t->fd);
    return 0;
}

static void *enable_and_exit(void *arg)
{
    struct trial *t = arg;

    enable(t->fd, t->mode);
    call();
    return NULL;
}

static void *enable_and_close(void *arg)
{
    struct trial *t = arg;

    enable(t->fd, t->mode);
    call();
    close(t->fd);
    return NULL;
}

static void join_new(void *(*fn)(void *), void *arg)
{
    pthread_t th;
    int error;

    if ((error = pthread_create(&th, NULL, fn, arg)))
        errc(1, error, "pthread_create");
    if ((error = pthread_join(th, NULL)))
        errc(1, error, "pthread_join");
}

/* The owner closes and exits: its records in the area can still be read. */
static int t_dying(struct trial *t)
{
    join_new(enable_and_close, t);
    if (close(t->fd) == 0 || errno != EBADF) {
        warnx("the thread did not close the descriptor");
        return 1;
    }
    return 0;
}

/* Tracing survives exec; the area is seen by the parent. */
static int t_exec(struct trial *t)
{
    pid_t pid = fork();
    int status;

    if (pid == -1)
        err(1, "fork");
    if (pid == 0) {
        if (fcntl(t->fd, F_SETFD, 0) == -1)
            err(1, "fcntl");
        enable(t->fd, t->mode);
        execl("/proc/self/exe", myself, "-E", (char *)NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) == -1)
        err(1, "waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        warnx("executed program ended with 0x%x", status);
        return 1;
    }
    /* The child is gone: the descriptor is ready again. */
    enable(t->fd, t->mode);
    disable(t->fd);
    return 0;
}

/* A descriptor of kcov cannot be sent to another process. */
static int t_fdsend(struct trial *t)
{
    union {
        struct cmsghdr hdr;
        unsigned char buf[CMSG_SPACE(sizeof(int))];
    } cmsgbuf;
    struct msghdr msg;
    struct cmsghdr *cmsg;
    struct iovec iov;
    char byte = 'x';
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
        err(1, "socketpair");
    memset(&msg, 0, sizeof(msg));
    memset(&cmsgbuf, 0, sizeof(cmsgbuf));
    iov.iov_base = &byte;
    iov.iov_len = 1;
    msg.msg_iov = &iov;
    msg.msg_iovlen = 1;
    msg.msg_control = &cmsgbuf.buf;
    msg.msg_controllen = sizeof(cmsgbuf.buf);
    cmsg = CMSG_FIRSTHDR(&msg);
    cmsg->cmsg_len = CMSG_LEN(sizeof(int));
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    memcpy(CMSG_DATA(cmsg), &t->fd, sizeof(int));
    if (sendmsg(pair[0], &msg, 0) != -1) {
        warnx("sendmsg: expected it to fail");
        return 1;
    }
    if (errno != EINVAL) {
        warn("sendmsg: expected EINVAL");
        return 1;
    }
    return 0;
}

/* A child does not trace; it may enable the inherited descriptor when nobody else has. */
static int t_fork(struct trial *t)
{
    int mode = t->mode, status;
    pid_t pid;

    enable(t->fd, t->mode);
    if ((pid = fork()) == -1)
        err(1, "fork");
    if (pid == 0) {
        if (ioctl(t->fd, KIOENABLE, &mode) != -1 || errno != ENXIO)
            _exit(2);
        if (ioctl(t->fd, KIODISABLE) != -1 || errno != EPERM)
            _exit(3);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) == -1)
        err(1, "waitpid");
    disable(t->fd);
    if (status != 0) {
        warnx("first child ended with 0x%x", status);
        return 1;
    }
    *t->area = 0;
    if ((pid = fork()) == -1)
        err(1, "fork");
    if (pid == 0) {
        enable(t->fd, t->mode);
        call();
        _exit(0);
    }
    if (waitpid(pid, &status, 0) == -1)
        err(1, "waitpid");
    return status != 0;
}

static int t_mode(struct trial *t)
{
    int modes[] = {KCOV_MODE_NONE, -1, 3, INT_MAX};
    size_t i;

    for (i = 0; i < nitems(modes); i++) {
        if (ioctl(t->fd, KIOENABLE, &modes[i]) != -1 || errno != EINVAL) {
            warnx("mode %d accepted", modes[i]);
            return 1;
        }
    }
    return 0;
}

/* Many at once, each with an area of its own. */
static int t_open(struct trial *t)
{
    unsigned long n;
    int fds[8], mode = t->mode;
    size_t i;

    for (i = 0; i < nitems(fds); i++) {
        fds[i] = open("/dev/kcov", O_RDWR);
        if (fds[i] == -1)
            err(1, "open %zu", i);
        if (ioctl(fds[i], KIOENABLE, &mode) != -1 || errno != ENXIO)
            errx(1, "enabled without an area");
        n = 512 * (i + 1);
        if (ioctl(fds[i], KIOSETBUFSIZE, &n) == -1)
            err(1, "size %zu", i);
    }
    for (i = 0; i < nitems(fds); i++) {
        enable(fds[i], t->mode);
        disable(fds[i]);
        close(fds[i]);
    }
    return 0;
}

/* A small area fills up and stays full. */
static int t_overflow(struct trial *t)
{
    unsigned long *area, n = 512, most;
    int fd, i;

    most = t->mode == KCOV_MODE_TRACE_PC ? n - 1 : (n - 1) / 4;
    fd = start(n);
    area = map(fd, n);
    enable(fd, t->mode);
    for (i = 0; i < 1000; i++)
        call();
    disable(fd);
    if (area[0] != most) {
        warnx("%lu records, %lu fit", area[0], most);
        return 1;
    }
    memcpy(t->area, area, n * sizeof(*area));
    return 0;
}

static int t_state(struct trial *t)
{
    unsigned long n;
    int mode = t->mode;

    /* Areas have one size, once. */
    n = t->nentries;
    if (ioctl(t->fd, KIOSETBUFSIZE, &n) != -1 || errno != EBUSY)
        goto bad;
    n = 0;
    if (ioctl(t->fd, KIOSETBUFSIZE, &n) != -1 || errno != EBUSY)
        goto bad;
    if (ioctl(t->fd, KIODISABLE) != -1 || errno != EPERM)
        goto bad;
    if (ioctl(t->fd, KIOENABLE, NULL) != -1 || errno != EFAULT)
        goto bad;
    enable(t->fd, t->mode);
    if (ioctl(t->fd, KIOENABLE, &mode) != -1 || errno != EBUSY)
        goto bad;
    call();
    disable(t->fd);
    if (ioctl(t->fd, KIODISABLE) != -1 || errno != EPERM)
        goto bad;
    if (ioctl(t->fd, FIONREAD, &mode) != -1 || errno != ENOTTY)
        goto bad;
    if (read(t->fd, &mode, sizeof(mode)) != -1 || errno != ENODEV)
        goto bad;
    if (write(t->fd, &mode, sizeof(mode)) != -1 || errno != ENODEV)
        goto bad;
    return 0;
bad:
    warn("wrong state or error");
    return 1;
}

static int t_thread(struct trial *t)
{
    unsigned long n;

    join_new(enable_and_exit, t);
    n = *t->area;
    if (n == 0) {
        warnx("no records of the thread");
        return 1;
    }
    call();
    if (*t->area != n) {
        warnx("the thread's tracing caught this one");
        return 1;
    }
    enable(t->fd, t->mode);
    disable(t->fd);
    return 0;
}

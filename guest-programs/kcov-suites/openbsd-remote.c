/*
 * Checks of OpenBSD's remote kcov(4): what tasks and timeouts do on behalf of the calling process,
 * in thread and in interrupt context. Only system headers.
 */
#include <sys/types.h>
#include <sys/event.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct trial {
    int fd;
    int mode;
    unsigned long *area;
};

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
    getpid();
    read(-1, NULL, 0);
}

static void attach(int fd)
{
    struct kio_remote_attach ra = {.subsystem = KCOV_REMOTE_COMMON, .id = 0};

    if (ioctl(fd, KIOREMOTEATTACH, &ra) == -1)
        err(1, "ioctl: KIOREMOTEATTACH");
}

/*
 * A kqueue inside a kqueue: waking the outer one is deferred to a task, and the task is accounted
 * to this process.
 */
static void deferred_wakeup(void)
{
    struct timespec moment = {0, 100 * 1000 * 1000};
    struct kevent kev;
    int inner, outer, p[2];

    if ((inner = kqueue()) == -1 || (outer = kqueue()) == -1)
        err(1, "kqueue");
    if (pipe(p) == -1)
        err(1, "pipe");
    EV_SET(&kev, p[0], EVFILT_READ, EV_ADD, 0, 0, NULL);
    if (kevent(inner, &kev, 1, NULL, 0, NULL) == -1)
        err(1, "kevent inner");
    EV_SET(&kev, inner, EVFILT_READ, EV_ADD, 0, 0, NULL);
    if (kevent(outer, &kev, 1, NULL, 0, NULL) == -1)
        err(1, "kevent outer");
    if (write(p[1], "x", 1) != 1)
        err(1, "write");
    if (kevent(outer, NULL, 0, &kev, 1, &moment) != 1)
        errx(1, "the outer kqueue was not woken");
    close(p[0]);
    close(p[1]);
    close(inner);
    close(outer);
}

static int t_remote(struct trial *t)
{
    unsigned long n;

    attach(t->fd);
    enable(t->fd, t->mode);
    *t->area = 0;
    call();
    getpid();
    n = *t->area;
    deferred_wakeup();
    if (*t->area <= n) {
        warnx("the task left no records");
        return 1;
    }
    disable(t->fd);
    return 0;
}

static int t_remote_attach(struct trial *t)
{
    struct kio_remote_attach ra = {.subsystem = 4711, .id = 0};
    unsigned long n = 512;
    int fd = open("/dev/kcov", O_RDWR);

    if (ioctl(t->fd, KIOREMOTEATTACH, &ra) != -1 || errno != EINVAL)
        errx(1, "an unknown subsystem was accepted");
    ra.subsystem = KCOV_REMOTE_COMMON;
    if (ioctl(fd, KIOREMOTEATTACH, &ra) != -1 || errno != ENXIO)
        errx(1, "attached without an area");
    attach(t->fd);
    if (ioctl(t->fd, KIOREMOTEATTACH, &ra) != -1 || errno != EBUSY)
        errx(1, "attached twice");
    if (ioctl(fd, KIOSETBUFSIZE, &n) == -1)
        err(1, "size");
    if (ioctl(fd, KIOREMOTEATTACH, &ra) != -1 || errno != EBUSY)
        errx(1, "a process attached two descriptors");
    close(t->fd);
    attach(fd);
    return 0;
}

static int t_remote_close(struct trial *t)
{
    unsigned long n;

    attach(t->fd);
    enable(t->fd, t->mode);
    if (close(t->fd) == -1)
        err(1, "close");
    n = *t->area;
    usleep(2000);
    deferred_wakeup();
    if (*t->area != n) {
        warnx("records after close of a remote");
        return 1;
    }
    return 0;
}

static int t_remote_disable(struct trial *t)
{
    unsigned long n;

    attach(t->fd);
    enable(t->fd, t->mode);
    deferred_wakeup();
    disable(t->fd);
    n = *t->area;
    if (ioctl(t->fd, KIODISABLE) != -1 || errno != ENXIO) {
        warn("disabled twice");
        return 1;
    }
    deferred_wakeup();
    if (*t->area != n) {
        warnx("records after disable");
        return 1;
    }
    enable(t->fd, t->mode);
    deferred_wakeup();
    if (*t->area <= n) {
        warnx("no records after enabling again");
        return 1;
    }
    return 0;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signo __unused)
{
    alarms++;
}

/* A timer that expires in an interrupt, on behalf of this process. */
static int t_remote_interrupt(struct trial *t)
{
    struct itimerval it;
    struct sigaction sa;

    memset(&sa, 0, sizeof(sa));
    sa.sa_handler = on_alarm;
    if (sigaction(SIGALRM, &sa, NULL) == -1)
        err(1, "sigaction");
    attach(t->fd);
    enable(t->fd, t->mode);
    *t->area = 0;
    memset(&it, 0, sizeof(it));
    it.it_value.tv_usec = 1000;
    if (setitimer(ITIMER_REAL, &it, NULL) == -1)
        err(1, "setitimer");
    while (alarms == 0)
        ;
    disable(t->fd);
    return 0;
}

static int run(const char *name, int (*fn)(struct trial *), int mode, int fills)
{
    unsigned long n = 1 << 15;
    struct trial t = {.mode = mode};
    int status;
    pid_t pid = fork();

    if (pid == -1)
        err(1, "fork");
    if (pid == 0) {
        if ((t.fd = open("/dev/kcov", O_RDWR)) == -1)
            err(1, "open: /dev/kcov");
        if (ioctl(t.fd, KIOSETBUFSIZE, &n) == -1)
            err(1, "ioctl: KIOSETBUFSIZE");
        t.area = mmap(NULL, n * sizeof(*t.area), PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0);
        if (t.area == MAP_FAILED)
            err(1, "mmap");
        if (fn(&t))
            _exit(1);
        _exit(fills && *t.area == 0);
    }
    if (waitpid(pid, &status, 0) == -1)
        err(1, "waitpid");
    printf("%sok %s in mode %d\n", status ? "not " : "", name, mode);
    return status != 0;
}

int main(void)
{
    static const struct {
        const char *name;
        int (*fn)(struct trial *);
        int fills;
    } trials[] = {
        {"remote", t_remote, 1},
        {"remote-attach", t_remote_attach, 0},
        {"remote-close", t_remote_close, 0},
        {"remote-disable", t_remote_disable, 1},
        {"remote-interrupt", t_remote_interrupt, 1},
    };
    int failed = 0;

    for (int mode = KCOV_MODE_TRACE_PC; mode <= KCOV_MODE_TRACE_CMP; mode++)
        for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
            failed += run(trials[i].name, trials[i].fn, mode, trials[i].fills);
    return failed != 0;
}

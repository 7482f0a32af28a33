/*
 * Every allocation of a few common operations fails once, one after the other (kernel fragment
 * "debug"): the operation must report an error or succeed, and the kernel must neither crash nor
 * lose memory.
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>

#define LIMIT 400

static int control;

static void arm(int nth)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%d", nth);
    if (write(control, text, (size_t)n) != n)
        exit(99);
}

/* The rest of the counter; 0 = an allocation was refused. */
static int disarm(void)
{
    char text[16] = "";
    lseek(control, 0, SEEK_SET);
    if (pread(control, text, sizeof(text) - 1, 0) < 0)
        exit(98);
    return atoi(text);
}

static int do_fork(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (pid < 0)
        return errno;
    waitpid(pid, &status, 0);
    return 0;
}

/* Returns only when exec failed; the new program reports the rest of the counter. */
static int do_exec(void)
{
    execl("/proc/self/exe", "fail-nth", "child", NULL);
    return errno;
}

static void on_signal(int sig)
{
    (void)sig;
}

static int start_program(void *nth)
{
    arm(*(int *)nth);
    execl("/proc/self/exe", "fail-nth", "child", NULL);
    _exit('r');
}

/*
 * The same in a process that shares its descriptors and dispositions with this one: whether or not
 * exec succeeds, it must not close our descriptors, nor reset our handlers.
 */
static int do_exec_shared(void)
{
    static char stack[16384] __attribute__((aligned(16)));
    struct sigaction now;
    int nth = disarm(), status, fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    signal(SIGUSR1, on_signal);
    pid_t pid = clone(start_program, stack + sizeof(stack),
                      CLONE_VM | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, &nth);
    if (fd < 0 || pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    if (fcntl(fd, F_GETFD) != FD_CLOEXEC || sigaction(SIGUSR1, NULL, &now) ||
        now.sa_handler != on_signal)
        return -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 'n')
        arm(LIMIT);
    return 0;
}

static int do_mmap(void)
{
    char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return errno;
    int bad = munmap(p, 1 << 20) ? errno : 0;
    return bad;
}

/* A move that fails leaves every page where it was; the target is in two page tables. */
static int do_mremap(void)
{
    const size_t half = 4 * 4096;
    char *to = (char *)0x3000000000 - half;
    char *p = mmap(NULL, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return errno;
    for (size_t i = 0; i < 2 * half; i += 4096)
        p[i] = (char)(1 + (i >> 12));
    char *q = mremap(p, 2 * half, 2 * half, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    int error = q == MAP_FAILED ? errno : 0;
    p = error ? p : q;
    for (size_t i = 0; i < 2 * half; i += 4096)
        if (p[i] != (char)(1 + (i >> 12)))
            _exit('x');
    munmap(p, 2 * half);
    return error;
}

static int do_file(void)
{
    int fd = open("/tmp/fail-nth-file", O_CREAT | O_RDWR | O_TRUNC, 0600);
    if (fd < 0)
        return errno;
    char text[5000] = "x";
    long n = write(fd, text, sizeof(text));
    int error = n < 0 ? errno : 0;
    close(fd);
    unlink("/tmp/fail-nth-file");
    return error;
}

static int do_pipe(void)
{
    int fds[2];
    if (pipe(fds))
        return errno;
    int error = write(fds[1], "hello", 5) < 0 ? errno : 0;
    close(fds[0]);
    close(fds[1]);
    return error;
}

static int do_socketpair(void)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
        return errno;
    int error = write(fds[1], "hello", 5) < 0 ? errno : 0;
    close(fds[0]);
    close(fds[1]);
    return error;
}

static int do_epoll(void)
{
    struct epoll_event ev = {.events = EPOLLIN};
    int fd = epoll_create1(0), other[2], error = 0;
    if (fd < 0)
        return errno;
    if (pipe(other) == 0) {
        if (epoll_ctl(fd, EPOLL_CTL_ADD, other[0], &ev))
            error = errno;
        close(other[0]);
        close(other[1]);
    }
    close(fd);
    return error;
}

static int do_signal_queue(void)
{
    sigset_t set;
    siginfo_t si;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int error = sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 1}) ? errno : 0;
    struct timespec now = {0, 0};
    sigtimedwait(&set, &si, &now);
    return error;
}

static int do_splice(void)
{
    int fds[2], file = memfd_create("fail-nth", 0), error = 0;
    if (file < 0)
        return errno;
    if (write(file, "splice", 6) != 6 || pipe(fds)) {
        error = errno;
        close(file);
        return error;
    }
    loff_t at = 0;
    if (splice(file, &at, fds[1], NULL, 6, 0) < 0 || splice(fds[0], NULL, file, NULL, 6, 0) < 0)
        error = errno;
    close(fds[0]), close(fds[1]), close(file);
    return error;
}

static int do_inotify(void)
{
    char buf[256];
    int in = inotify_init1(IN_NONBLOCK), error = 0;
    if (in < 0)
        return errno;
    if (inotify_add_watch(in, "/tmp", IN_CREATE | IN_DELETE) < 0 || mkdir("/tmp/fail-dir", 0700))
        error = errno;
    rmdir("/tmp/fail-dir");
    if (read(in, buf, sizeof(buf)) < 0 && !error) /* the event itself may have been lost */
        error = errno;
    close(in);
    return error;
}

static int do_signalfd(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int fd = signalfd(-1, &set, 0), error = 0;
    if (fd < 0)
        return errno;
    struct pollfd p = {fd, POLLIN, 0};
    if (poll(&p, 1, 0) < 0)
        error = errno;
    close(fd);
    return error;
}

static int do_timer(void)
{
    struct sigevent ev = {.sigev_notify = SIGEV_NONE};
    timer_t t;
    if (timer_create(CLOCK_MONOTONIC, &ev, &t))
        return errno;
    struct itimerspec it = {{0, 0}, {0, 1000}};
    int error = timer_settime(t, 0, &it, NULL) ? errno : 0;
    timer_delete(t);
    return error;
}

static int do_pidfd(void)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* A file that rename could not replace is still there. */
static int do_rename(void)
{
    int a = open("/tmp/fail-nth-a", O_CREAT | O_RDWR, 0600), error = 0;
    int b = open("/tmp/fail-nth-b", O_CREAT | O_RDWR, 0600);
    if (a < 0 || b < 0 || rename("/tmp/fail-nth-a", "/tmp/fail-nth-b"))
        error = errno;
    int lost = a >= 0 && b >= 0 && access("/tmp/fail-nth-b", F_OK) && errno == ENOENT;
    close(a), close(b);
    unlink("/tmp/fail-nth-a"), unlink("/tmp/fail-nth-b");
    return lost ? -1 : error;
}

/* A link in the way makes open ask for the real path. */
static int do_open_link(void)
{
    int fd = open("/proc/self/fd/../exe", O_RDONLY);
    if (fd < 0)
        return errno;
    char *m = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    int error = m == MAP_FAILED ? errno : 0;
    if (!error)
        munmap(m, 4096);
    close(fd);
    return error;
}

static long free_kib(void)
{
    struct sysinfo s;
    sysinfo(&s);
    return (long)(s.freeram >> 10);
}

/*
 * The operation in a child whose n-th allocation fails: 'r' refused, 'n' none was refused, 'x' the
 * operation went wrong. A refused page fault is the kernel's out-of-memory kill.
 */
static char attempt(int (*operation)(void), int nth)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        arm(nth);
        int error = operation();
        _exit(error < 0 ? 'x' : disarm() > 0 ? 'n' : 'r');
    }
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGKILL ? 'r' : 'x';
    char code = (char)WEXITSTATUS(status); /* a new program may also give up in its start-up */
    return code == 'n' || code == 'x' ? code : 'r';
}

/* Lets the 1st, 2nd, ... allocation fail until the operation needs no more. */
static int exhaust(const char *name, int (*operation)(void))
{
    attempt(operation, LIMIT);
    long before = free_kib();
    int nth = 1;
    char outcome;
    while ((outcome = attempt(operation, nth)) == 'r' && nth < LIMIT)
        nth++;
    long lost = before - free_kib();
    int ok = outcome == 'n' && nth > 1 && lost < 1024;
    printf("%s %s: %d allocations refused, %ld KiB lost\n", ok ? "ok" : "not ok", name, nth - 1,
           lost);
    fflush(stdout);
    return !ok;
}

int main(int argc, char **argv)
{
    (void)argv;
    control = open("/dev/fail-nth", O_RDWR);
    if (argc > 1)
        return disarm() > 0 ? 'n' : 'r';
    if (control < 0) {
        printf("ok fail-nth # skipped: the kernel has no /dev/fail-nth\n");
        return 0;
    }
    int bad = exhaust("fork", do_fork) + exhaust("mmap", do_mmap) + exhaust("file", do_file) +
              exhaust("pipe", do_pipe) + exhaust("socketpair", do_socketpair) +
              exhaust("epoll", do_epoll) + exhaust("signal queue", do_signal_queue) +
              exhaust("exec", do_exec) + exhaust("exec, sharing", do_exec_shared);
    bad += exhaust("splice", do_splice) + exhaust("inotify", do_inotify) +
           exhaust("signalfd", do_signalfd) + exhaust("timer", do_timer) +
           exhaust("pidfd", do_pidfd) + exhaust("open link", do_open_link) +
           exhaust("rename", do_rename) + exhaust("mremap", do_mremap);
    return bad;
}

/* Signals, timers and processes as files: signalfd, timer_create, pidfds. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static sigset_t set_of(int a, int b)
{
    sigset_t set;

    sigemptyset(&set), sigaddset(&set, a), sigaddset(&set, b);
    return set;
}

static void signalfd_reads_blocked_signals(void)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2), old;
    struct signalfd_siginfo info[3];
    int fd;

    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0);
    fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    CHECK(fd >= 0 && read(fd, info, sizeof(info)) == -1 && errno == EAGAIN);
    CHECK(read(fd, info, 10) == -1 && errno == EINVAL);
    union sigval v = {.sival_int = 77};
    CHECK(kill(getpid(), SIGUSR2) == 0 && sigqueue(getpid(), SIGUSR1, v) == 0);
    CHECK(read(fd, info, sizeof(info)) == 2 * sizeof(info[0]));
    CHECK(info[0].ssi_signo == SIGUSR1 && info[0].ssi_code == SI_QUEUE && info[0].ssi_int == 77);
    CHECK(info[1].ssi_signo == SIGUSR2 && info[1].ssi_pid == (uint32_t)getpid());
    set = set_of(SIGUSR2, SIGUSR2);
    CHECK(signalfd(fd, &set, 0) == fd && raise(SIGUSR1) == 0);
    CHECK(read(fd, info, sizeof(info)) == -1 && errno == EAGAIN);
    CHECK(sigtimedwait(&(sigset_t){{1UL << (SIGUSR1 - 1)}}, NULL, &(struct timespec){0}) ==
          SIGUSR1);
    close(fd);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void signalfd_is_waited_for(void)
{
    sigset_t set = set_of(SIGUSR1, SIGCHLD), old;
    struct epoll_event ev = {.events = EPOLLIN}, out;
    struct signalfd_siginfo info;
    int fd, ep = epoll_create1(0), status;

    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0 && (fd = signalfd(-1, &set, 0)) >= 0);
    struct pollfd p = {fd, POLLIN, 0};
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) == 0 && poll(&p, 1, 0) == 0);
    CHECK(epoll_wait(ep, &out, 1, 0) == 0);
    pid_t pid = fork();
    if (!pid) {
        usleep(3000);
        _exit(kill(getppid(), SIGUSR1) ? 1 : 3);
    }
    CHECK(epoll_wait(ep, &out, 1, 5000) == 1 && poll(&p, 1, 0) == 1);
    CHECK(read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGUSR1);
    CHECK(read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGCHLD);
    CHECK(info.ssi_pid == (uint32_t)pid && info.ssi_status == 3 && info.ssi_code == CLD_EXITED);
    CHECK(waitpid(pid, &status, 0) == pid);
    close(fd), close(ep);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* An inherited signalfd means the child's own signals. */
static void signalfd_is_about_the_reader(void)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR1), old;
    struct signalfd_siginfo info;
    int fd, status;

    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0 && (fd = signalfd(-1, &set, 0)) >= 0);
    struct pollfd p = {fd, POLLIN, 0};
    pid_t pid = fork();
    if (!pid)
        _exit(poll(&p, 1, 5000) == 1 && read(fd, &info, sizeof(info)) == sizeof(info) ? 0 : 1);
    CHECK(kill(pid, SIGUSR1) == 0 && waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(poll(&p, 1, 0) == 0);
    close(fd);
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* A thread that waits for all signals cannot catch SIGKILL that way. */
static void sigkill_is_not_waited_for(void)
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        _exit(sigwaitinfo(&all, NULL) < 0 ? 1 : 2);
    }
    usleep(3000);
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static volatile sig_atomic_t ticks, value, timer_code;
static void on_tick(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    ticks++;
    value = info->si_value.sival_int;
    timer_code = info->si_code;
}

static void timers_send_signals(void)
{
    struct sigaction sa = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO};
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec it = {{0, 2000000}, {0, 1000000}}, now;
    timer_t t;

    ev.sigev_value.sival_int = 42;
    CHECK(sigaction(SIGUSR1, &sa, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &ev, &t) == 0);
    CHECK(timer_gettime(t, &now) == 0 && now.it_value.tv_sec == 0 && now.it_value.tv_nsec == 0);
    CHECK(timer_settime(t, 0, &it, NULL) == 0);
    for (int i = 0; i < 1000 && ticks < 3; i++)
        usleep(1000);
    CHECK(ticks >= 3 && value == 42 && timer_code == SI_TIMER);
    CHECK(timer_gettime(t, &now) == 0 && now.it_interval.tv_nsec == 2000000);
    CHECK(timer_settime(t, 0, &(struct itimerspec){0}, &now) == 0);
    CHECK(now.it_interval.tv_nsec == 2000000 && timer_delete(t) == 0);
    CHECK(timer_delete(t) == -1 && errno == EINVAL);
    signal(SIGUSR1, SIG_DFL);
}

static void a_blocked_timer_counts_overruns(void)
{
    sigset_t set = set_of(SIGUSR2, SIGUSR2), old;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec it = {{0, 1000000}, {0, 1000000}};
    siginfo_t info;
    timer_t t;

    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0 && timer_create(CLOCK_REALTIME, &ev, &t) == 0);
    CHECK(timer_settime(t, 0, &it, NULL) == 0 && usleep(20000) == 0);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_code == SI_TIMER);
    CHECK(timer_getoverrun(t) >= 5 && timer_delete(t) == 0);
    CHECK(timer_create(12345, &ev, &t) == -1 && errno == EINVAL);
    while (sigtimedwait(&set, &info, &(struct timespec){0}) > 0)
        ;
    sigprocmask(SIG_SETMASK, &old, NULL);
}

/* Linux counts since the first expiry, here in 1970, and ends counting at DELAYTIMER_MAX. */
static void overruns_end_at_delaytimer_max(void)
{
    sigset_t set = set_of(SIGUSR2, SIGUSR2), old;
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec it = {{0, 1000}, {0, 1}};
    siginfo_t info;
    timer_t t;

    CHECK(sigprocmask(SIG_BLOCK, &set, &old) == 0 && timer_create(CLOCK_REALTIME, &ev, &t) == 0);
    CHECK(timer_settime(t, TIMER_ABSTIME, &it, NULL) == 0 && usleep(5000) == 0);
    CHECK(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_overrun == INT_MAX);
    CHECK(timer_getoverrun(t) == INT_MAX && timer_delete(t) == 0);
    while (sigtimedwait(&set, &info, &(struct timespec){0}) > 0)
        ;
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static int pidfd_open_(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static void pidfds_tell_the_end(void)
{
    int go[2];
    siginfo_t info = {0};
    char c;

    CHECK(pipe(go) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(go[1]);
        _exit(read(go[0], &c, 1) == 0 ? 5 : 6);
    }
    int fd = pidfd_open_(pid, 0), nb = pidfd_open_(pid, O_NONBLOCK);
    struct pollfd p = {fd, POLLIN, 0};
    CHECK(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC && poll(&p, 1, 0) == 0);
    CHECK(waitid(P_PIDFD, (id_t)nb, &info, WEXITED) == -1 && errno == EAGAIN);
    CHECK(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0);
    close(go[1]);
    CHECK(poll(&p, 1, 5000) == 1 && p.revents == POLLIN);
    CHECK(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0 && info.si_pid == pid);
    CHECK(info.si_code == CLD_EXITED && info.si_status == 5);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == -1 && errno == ESRCH);
    CHECK(pidfd_open_(pid, 0) == -1 && errno == ESRCH);
    CHECK(pidfd_open_(-1, 0) == -1 && errno == EINVAL);
    close(fd), close(nb), close(go[0]);
}

static void pidfds_take_descriptors_and_kill(void)
{
    int p[2], status;
    char c = 0;

    CHECK(pipe(p) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(p[0]);
        pause();
        _exit(0);
    }
    close(p[1]);
    int fd = pidfd_open_(pid, 0), theirs = (int)syscall(SYS_pidfd_getfd, fd, p[1], 0);
    CHECK(fd >= 0 && theirs >= 0 && write(theirs, "t", 1) == 1);
    CHECK(read(p[0], &c, 1) == 1 && c == 't');
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL);
    close(fd), close(theirs), close(p[0]);
}

static void directories_of_processes_take_signals(void)
{
    char path[32];
    int status, root = open("/proc", O_RDONLY | O_DIRECTORY);
    pid_t pid = fork();

    if (!pid) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    int inside = openat(fd, "fd", O_RDONLY | O_DIRECTORY), named = open(path, O_PATH);
    CHECK(fd >= 0 && inside >= 0 && root >= 0 && named >= 0);
    CHECK(syscall(SYS_pidfd_send_signal, inside, 0, NULL, 0) == -1 && errno == EBADF);
    CHECK(syscall(SYS_pidfd_send_signal, root, 0, NULL, 0) == -1 && errno == EBADF);
    CHECK(syscall(SYS_pidfd_send_signal, named, 0, NULL, 0) == -1 && errno == EBADF);
    CHECK(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0);
    CHECK(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WTERMSIG(status) == SIGKILL);
    CHECK(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == -1 && errno == ESRCH);
    close(fd), close(inside), close(named), close(root);
}

struct clone3_args {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, more[4];
};

static void clone3_gives_a_pidfd(void)
{
    struct clone3_args a = {.flags = 0x1000 /* CLONE_PIDFD */, .exit_signal = SIGCHLD};
    siginfo_t info = {0};
    int fd = -1;

    a.pidfd = (uintptr_t)&fd;
    long pid = syscall(SYS_clone3, &a, 88);
    if (!pid)
        _exit(9);
    CHECK(pid > 0 && fd >= 0 && waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0);
    CHECK(info.si_pid == pid && info.si_status == 9);
    a.more[3] = 1; /* something from the future */
    CHECK(syscall(SYS_clone3, &a, sizeof(a)) == -1 && errno == E2BIG);
    CHECK(syscall(SYS_clone3, &a, 63) == -1 && errno == EINVAL);
    close(fd);
}

int main(void)
{
    RUN(signalfd_reads_blocked_signals);
    RUN(signalfd_is_waited_for);
    RUN(signalfd_is_about_the_reader);
    RUN(sigkill_is_not_waited_for);
    RUN(timers_send_signals);
    RUN(a_blocked_timer_counts_overruns);
    RUN(overruns_end_at_delaytimer_max);
    RUN_ON_KERNEL(pidfds_tell_the_end);
    RUN_ON_KERNEL(pidfds_take_descriptors_and_kill);
    RUN(directories_of_processes_take_signals);
    RUN_ON_KERNEL(clone3_gives_a_pidfd);
    DONE();
}

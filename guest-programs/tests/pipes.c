/* Pipes, FIFOs, eventfd, timerfd, and waiting for readiness: poll, select, epoll. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

static void pipe_carries_bytes(void)
{
    int p[2], n;
    char buf[8];

    CHECK(pipe(p) == 0 && write(p[1], "hello", 5) == 5);
    CHECK(ioctl(p[0], FIONREAD, &n) == 0 && n == 5);
    CHECK(read(p[0], buf, 3) == 3 && read(p[0], buf, 8) == 2);
    CHECK(lseek(p[0], 0, SEEK_SET) == -1 && errno == ESPIPE);
    CHECK(write(p[0], "x", 1) == -1 && errno == EBADF && read(p[1], buf, 1) == -1);
    close(p[1]);
    CHECK(read(p[0], buf, 8) == 0);
    close(p[0]);
}

static void broken_pipe_signals(void)
{
    int p[2];

    signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(p) == 0 && close(p[0]) == 0);
    CHECK(write(p[1], "x", 1) == -1 && errno == EPIPE);
    close(p[1]);
    signal(SIGPIPE, SIG_DFL);
}

static void full_pipe_blocks_and_drains(void)
{
    char *big = calloc(1, 300000);
    int p[2], status;
    ssize_t total = 0, n;

    CHECK(big && pipe(p) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(p[0]);
        _exit(write(p[1], big, 300000) == 300000 ? 0 : 1);
    }
    close(p[1]);
    while ((n = read(p[0], big, 7777)) > 0)
        total += n;
    CHECK(total == 300000 && waitpid(pid, &status, 0) == pid && status == 0);
    close(p[0]);
    free(big);
}

static void nonblocking_pipe_says_eagain(void)
{
    int p[2];
    char buf[4096] = {0};
    long total = 0;

    CHECK(pipe2(p, O_NONBLOCK) == 0 && read(p[0], buf, 1) == -1 && errno == EAGAIN);
    while (write(p[1], buf, sizeof(buf)) == sizeof(buf))
        total += sizeof(buf);
    CHECK(errno == EAGAIN && total == 65536);
    CHECK(fcntl(p[0], F_GETPIPE_SZ) == 65536);
    close(p[0]), close(p[1]);
}

static void fifo_meets(void)
{
    char buf[8];
    int status;

    CHECK(mkfifo("/tmp/test-fifo", 0600) == 0);
    CHECK(open("/tmp/test-fifo", O_WRONLY | O_NONBLOCK) == -1 && errno == ENXIO);
    pid_t pid = fork();
    if (!pid) {
        int fd = open("/tmp/test-fifo", O_WRONLY);
        _exit(write(fd, "fifo", 4) == 4 ? 0 : 1);
    }
    int fd = open("/tmp/test-fifo", O_RDONLY);
    CHECK(fd >= 0 && read(fd, buf, 8) == 4 && read(fd, buf, 8) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(fd);
    unlink("/tmp/test-fifo");
}

static void pipes_open_again_through_proc(void)
{
    char name[64], c;
    int p[2], s, again;

    CHECK(pipe(p) == 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", p[1]);
    again = open(name, O_WRONLY);
    CHECK(again >= 0 && close(p[1]) == 0 && write(again, "x", 1) == 1 && close(again) == 0);
    CHECK(read(p[0], &c, 1) == 1 && read(p[0], &c, 1) == 0);
    close(p[0]);
    CHECK(pipe(p) == 0 && write(p[1], "x", 1) == 1 && close(p[1]) == 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", p[0]);
    again = open(name, O_RDONLY); /* waits for no writer, as a named one would */
    CHECK(again >= 0 && read(again, &c, 1) == 1 && read(again, &c, 1) == 0);
    close(again);
    again = open(name, O_WRONLY);
    CHECK(again >= 0 && close(p[0]) == 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", again);
    p[0] = open(name, O_WRONLY | O_NONBLOCK);
    CHECK(p[0] >= 0 && close(p[0]) == 0 && close(again) == 0);
    s = eventfd(0, 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", s);
    CHECK(open(name, O_RDWR) == -1 && errno == ENXIO);
    close(s);
}

static void poll_reports_what_is_true(void)
{
    int p[2];
    CHECK(pipe(p) == 0);
    struct pollfd f[3] = {{p[0], POLLIN, 0}, {p[1], POLLOUT, 0}, {-1, POLLIN, 0}};

    CHECK(poll(f, 3, 0) == 1 && f[0].revents == 0 && f[1].revents == POLLOUT);
    CHECK(write(p[1], "x", 1) == 1 && poll(f, 3, -1) == 2 && f[0].revents == POLLIN);
    close(p[1]);
    f[1].fd = -1;
    CHECK(poll(f, 2, 0) == 1 && f[0].revents == (POLLIN | POLLHUP));
    close(p[0]);
    f[0].fd = 777;
    CHECK(poll(f, 1, 0) == 1 && f[0].revents == POLLNVAL);
}

static void poll_waits_for_time_and_data(void)
{
    struct timespec a, b;
    int p[2], status;

    CHECK(pipe(p) == 0);
    struct pollfd f = {p[0], POLLIN, 0};
    clock_gettime(CLOCK_MONOTONIC, &a);
    CHECK(poll(&f, 1, 20) == 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    CHECK((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec >= 20000000);
    pid_t pid = fork();
    if (!pid) {
        usleep(5000);
        _exit(write(p[1], "x", 1) == 1 ? 0 : 1);
    }
    CHECK(poll(&f, 1, 5000) == 1 && f.revents == POLLIN);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(p[0]), close(p[1]);
}

static void select_works_on_sets(void)
{
    fd_set r, w;
    struct timeval tv = {0, 1000};
    int p[2];

    CHECK(pipe(p) == 0);
    FD_ZERO(&r);
    FD_ZERO(&w);
    FD_SET(p[0], &r);
    FD_SET(p[1], &w);
    CHECK(select(p[1] + 1, &r, &w, NULL, NULL) == 1 && !FD_ISSET(p[0], &r) && FD_ISSET(p[1], &w));
    FD_ZERO(&r);
    FD_SET(p[0], &r);
    CHECK(select(p[1] + 1, &r, NULL, NULL, &tv) == 0);
    FD_ZERO(&r);
    FD_SET(63, &r);
    CHECK(select(64, &r, NULL, NULL, &tv) == -1 && errno == EBADF);
    close(p[0]), close(p[1]);
}

static void poll_and_select_have_corners(void)
{
    struct timespec bad[] = {{0, -1}, {-1, 0}, {0, 1000000000}}, none = {0, 0};
    struct timeval zero = {0, 0};
    fd_set set;
    int p[2];

    CHECK(poll(NULL, 0, 1) == 0 && select(0, NULL, NULL, NULL, &zero) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(ppoll(NULL, 0, &bad[i], NULL) == -1 && errno == EINVAL);
        CHECK(pselect(0, NULL, NULL, NULL, &bad[i], NULL) == -1 && errno == EINVAL);
    }
    CHECK(ppoll((struct pollfd *)16, 1, &none, NULL) == -1 && errno == EFAULT);
    CHECK(poll((struct pollfd *)16, 1u << 30, 0) == -1 && errno == EINVAL);
    CHECK(select(-1, NULL, NULL, NULL, &zero) == -1 && errno == EINVAL);
    CHECK(pipe(p) == 0 && close(p[0]) == 0);
    struct pollfd f = {p[1], 0, 0};
    CHECK(poll(&f, 1, 0) == 1 && f.revents == POLLERR); /* not asked for, told */
    FD_ZERO(&set);
    FD_SET(p[1], &set);
    CHECK(select(p[1] + 1, NULL, NULL, &set, &zero) == 0 && !FD_ISSET(p[1], &set));
    FD_ZERO(&set);
    FD_SET(p[1], &set);
    CHECK(select(p[1] + 1, &set, NULL, NULL, &zero) == 1 && FD_ISSET(p[1], &set)); /* an error */
    close(p[1]);
    int fd = open("/dev/null", O_RDONLY | O_PATH);
    f = (struct pollfd){fd, POLLIN, 0};
    CHECK(poll(&f, 1, 0) == 1 && f.revents == POLLNVAL);
    close(fd);
}

static volatile sig_atomic_t alarms;
static void on_alarm(int sig)
{
    (void)sig;
    alarms++;
}

static void signals_interrupt_poll(void)
{
    struct sigaction sa = {.sa_handler = on_alarm};

    CHECK(sigaction(SIGALRM, &sa, NULL) == 0);
    ualarm(10000, 10000); /* again and again: the first may come before poll is entered */
    CHECK(poll(NULL, 0, -1) == -1 && errno == EINTR && alarms >= 1);
    ualarm(0, 0);
}

static void ppoll_unblocks_only_inside(void)
{
    sigset_t block, none;
    struct timespec ts = {5, 0};
    int before = alarms;

    sigemptyset(&none), sigemptyset(&block), sigaddset(&block, SIGALRM);
    CHECK(sigprocmask(SIG_BLOCK, &block, NULL) == 0);
    raise(SIGALRM);
    CHECK(alarms == before);
    CHECK(ppoll(NULL, 0, &ts, &none) == -1 && errno == EINTR && alarms == before + 1);
    sigprocmask(SIG_UNBLOCK, &block, NULL);
}

static void eventfd_counts(void)
{
    uint64_t v = 3;
    int fd = eventfd(2, EFD_NONBLOCK), sem = eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE);

    CHECK(write(fd, &v, 8) == 8 && read(fd, &v, 8) == 8 && v == 5);
    CHECK(read(fd, &v, 8) == -1 && errno == EAGAIN && read(fd, &v, 4) == -1 && errno == EINVAL);
    CHECK(read(sem, &v, 8) == 8 && v == 1 && read(sem, &v, 8) == 8 && read(sem, &v, 8) == -1);
    close(fd), close(sem);
}

static void a_stopped_timerfd_keeps_its_interval(void)
{
    struct itimerspec it = {.it_interval = {0, 5000000}}, now;
    int fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);

    CHECK(fd >= 0 && timerfd_settime(fd, 0, &it, NULL) == 0 && timerfd_gettime(fd, &now) == 0);
    CHECK(now.it_interval.tv_nsec == 5000000 && !now.it_value.tv_sec && !now.it_value.tv_nsec);
    it.it_interval.tv_nsec = 0;
    CHECK(timerfd_settime(fd, 0, &it, &now) == 0 && now.it_interval.tv_nsec == 5000000);
    CHECK(timerfd_gettime(fd, &now) == 0 && !now.it_interval.tv_nsec && close(fd) == 0);
}

static void timerfd_fires(void)
{
    struct itimerspec it = {{0, 1000000}, {0, 2000000}}, now;
    uint64_t n = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);

    CHECK(fd >= 0 && timerfd_settime(fd, 0, &it, NULL) == 0);
    CHECK(read(fd, &n, 8) == 8 && n >= 1);
    usleep(5000);
    CHECK(read(fd, &n, 8) == 8 && n >= 3 && timerfd_gettime(fd, &now) == 0);
    CHECK(now.it_interval.tv_nsec == 1000000);
    close(fd);
}

static void epoll_levels_and_edges(void)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 42}, out[4];
    int p[2], ep = epoll_create1(0);
    char c;

    CHECK(ep >= 0 && pipe(p) == 0 && epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev) == 0);
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev) == -1 && errno == EEXIST);
    CHECK(epoll_wait(ep, out, 4, 0) == 0 && write(p[1], "ab", 2) == 2);
    CHECK(epoll_wait(ep, out, 4, -1) == 1 && out[0].data.u64 == 42 && out[0].events == EPOLLIN);
    CHECK(epoll_wait(ep, out, 4, 0) == 1);
    ev.events = EPOLLIN | EPOLLET;
    CHECK(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev) == 0 && epoll_wait(ep, out, 4, 0) == 1);
    CHECK(epoll_wait(ep, out, 4, 0) == 0 && write(p[1], "c", 1) == 1);
    CHECK(epoll_wait(ep, out, 4, 0) == 1);
    ev.events = EPOLLIN | EPOLLONESHOT;
    CHECK(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev) == 0 && epoll_wait(ep, out, 4, 0) == 1);
    CHECK(epoll_wait(ep, out, 4, 0) == 0 && read(p[0], &c, 1) == 1);
    CHECK(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL) == 0);
    CHECK(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL) == -1 && errno == ENOENT);
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev) == -1 && errno == EINVAL);
    close(p[0]), close(p[1]), close(ep);
}

static void epoll_nests_and_forgets(void)
{
    struct epoll_event ev = {.events = EPOLLIN}, out[4];
    int p[2], inner = epoll_create1(0), outer = epoll_create1(0);

    CHECK(pipe(p) == 0 && epoll_ctl(inner, EPOLL_CTL_ADD, p[0], &ev) == 0);
    CHECK(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &ev) == 0);
    CHECK(epoll_ctl(inner, EPOLL_CTL_ADD, outer, &ev) == -1 && errno == ELOOP);
    CHECK(epoll_wait(outer, out, 4, 0) == 0 && write(p[1], "x", 1) == 1);
    CHECK(epoll_wait(outer, out, 4, 100) == 1);
    close(p[0]);
    CHECK(epoll_wait(inner, out, 4, 0) == 0); /* a closed file is watched no longer */
    close(p[1]), close(inner), close(outer);
}

int main(void)
{
    RUN(pipe_carries_bytes);
    RUN(broken_pipe_signals);
    RUN(full_pipe_blocks_and_drains);
    RUN(nonblocking_pipe_says_eagain);
    RUN(fifo_meets);
    RUN(pipes_open_again_through_proc);
    RUN(poll_reports_what_is_true);
    RUN(poll_waits_for_time_and_data);
    RUN(select_works_on_sets);
    RUN(poll_and_select_have_corners);
    RUN(signals_interrupt_poll);
    RUN(ppoll_unblocks_only_inside);
    RUN(eventfd_counts);
    RUN(timerfd_fires);
    RUN(a_stopped_timerfd_keeps_its_interval);
    RUN(epoll_levels_and_edges);
    RUN(epoll_nests_and_forgets);
    DONE();
}

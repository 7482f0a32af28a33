/* kqueue of the BSD personalities. Build with the include directory of one of them. */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const struct timespec now_only = {0, 0}, a_second = {1, 0};

static int add(int kq, uintptr_t ident, short filter, unsigned short flags, int64_t data)
{
    struct kevent ev;

    EV_SET(&ev, ident, filter, EV_ADD | flags, 0, data, (void *)7);
    return kevent(kq, &ev, 1, NULL, 0, NULL);
}

static void reads_are_level_triggered(void)
{
    struct kevent ev;
    int p[2], kq = kqueue();
    char c;

    CHECK(kq >= 0 && pipe(p) == 0 && add(kq, p[0], EVFILT_READ, 0, 0) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0 && write(p[1], "ab", 2) == 2);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1);
    CHECK(ev.ident == (uintptr_t)p[0] && ev.filter == EVFILT_READ && ev.data == 2);
    CHECK(ev.udata == (void *)7 && read(p[0], &c, 1) == 1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1 && ev.data == 1 && read(p[0], &c, 1) == 1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    close(p[1]);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1 && ev.flags & EV_EOF);
    close(p[0]);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    close(kq);
}

static void clear_reports_changes_only(void)
{
    struct kevent ev;
    int p[2], kq = kqueue();

    CHECK(pipe(p) == 0 && add(kq, p[0], EVFILT_READ, EV_CLEAR, 0) == 0);
    CHECK(write(p[1], "a", 1) == 1 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    CHECK(write(p[1], "a", 1) == 1 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 1 && ev.data == 2);
    close(p[0]), close(p[1]), close(kq);
}

static void oneshot_goes_and_dispatch_sleeps(void)
{
    struct kevent ev;
    int p[2], kq = kqueue();

    CHECK(pipe(p) == 0 && write(p[1], "a", 1) == 1);
    CHECK(add(kq, p[0], EVFILT_READ, EV_ONESHOT, 0) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    EV_SET(&ev, p[0], EVFILT_READ, EV_DELETE, 0, 0, NULL);
    CHECK(kevent(kq, &ev, 1, NULL, 0, NULL) == -1 && errno == ENOENT);
    CHECK(add(kq, p[0], EVFILT_READ, EV_DISPATCH, 0) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    EV_SET(&ev, p[0], EVFILT_READ, EV_ENABLE, 0, 0, NULL);
    CHECK(kevent(kq, &ev, 1, &ev, 1, &a_second) == 1);
    close(p[0]), close(p[1]), close(kq);
}

static void timers_fire(void)
{
    struct kevent ev;
    int kq = kqueue();

    CHECK(add(kq, 1, EVFILT_TIMER, 0, 2) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1 && ev.filter == EVFILT_TIMER && ev.data >= 1);
    usleep(7000);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1 && ev.data >= 3);
    CHECK(add(kq, 2, EVFILT_TIMER, EV_ONESHOT, 1) == 0);
    close(kq);
}

static void user_events_trigger(void)
{
    struct kevent ev;
    int kq = kqueue();

    CHECK(add(kq, 5, EVFILT_USER, EV_CLEAR, 0) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    EV_SET(&ev, 5, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
    CHECK(kevent(kq, &ev, 1, NULL, 0, NULL) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1 && ev.ident == 5);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    close(kq);
}

static void queues_watch_queues(void)
{
    struct kevent ev;
    int p[2], inner = kqueue(), outer = kqueue();

    CHECK(pipe(p) == 0 && add(inner, p[0], EVFILT_READ, 0, 0) == 0);
    CHECK(add(outer, inner, EVFILT_READ, 0, 0) == 0);
    CHECK(add(inner, outer, EVFILT_READ, 0, 0) == -1 && errno == EINVAL);
    CHECK(kevent(outer, NULL, 0, &ev, 1, &now_only) == 0 && write(p[1], "a", 1) == 1);
    CHECK(kevent(outer, NULL, 0, &ev, 1, &a_second) == 1 && ev.ident == (uintptr_t)inner);
    CHECK(ev.data == 1);
    close(p[0]), close(p[1]), close(inner), close(outer);
}

static void errors_are_events(void)
{
    struct kevent ev[2];
    int kq = kqueue();

    EV_SET(&ev[0], 999, EVFILT_READ, EV_ADD, 0, 0, NULL);
    CHECK(kevent(kq, ev, 1, ev, 1, &now_only) == 1 && ev[0].flags & EV_ERROR);
    CHECK(ev[0].data == EBADF);
    EV_SET(&ev[0], 1, EVFILT_AIO, EV_ADD, 0, 0, NULL);
    CHECK(kevent(kq, ev, 1, NULL, 0, &now_only) == -1 && errno == EINVAL);
    CHECK(kevent(0, ev, 0, NULL, 0, &now_only) == -1 && errno == EBADF);
    close(kq);
}

static void children_do_not_inherit(void)
{
    int kq = kqueue(), status;
    pid_t pid = fork();

    if (!pid)
        _exit(close(kq) == -1 && errno == EBADF ? 0 : 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && close(kq) == 0);
}

static void sockets_refuse_queues(void)
{
    char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {"q", 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int s[2], kq = kqueue();

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &kq, sizeof(kq));
    CHECK(sendmsg(s[0], &m, 0) == -1 && errno == EINVAL);
    close(s[0]), close(s[1]), close(kq);
}

static int add_notes(int kq, uintptr_t ident, short filter, unsigned short flags, unsigned notes)
{
    struct kevent ev;

    EV_SET(&ev, ident, filter, EV_ADD | flags, notes, 0, (void *)7);
    return kevent(kq, &ev, 1, NULL, 0, NULL);
}

static void vnodes_tell_what_happened(void)
{
    const unsigned all =
        NOTE_DELETE | NOTE_WRITE | NOTE_EXTEND | NOTE_ATTRIB | NOTE_LINK | NOTE_RENAME;
    int kq = kqueue(), fd = open("/tmp/test-vnode", O_RDWR | O_CREAT, 0600);
    struct kevent ev;

    CHECK(fd >= 0 && add_notes(kq, fd, EVFILT_VNODE, EV_CLEAR, all) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0 && write(fd, "abc", 3) == 3);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1 && ev.filter == EVFILT_VNODE);
    CHECK(ev.fflags == (NOTE_WRITE | NOTE_EXTEND) && ev.udata == (void *)7);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0 && pwrite(fd, "x", 1, 0) == 1);
    CHECK(fchmod(fd, 0640) == 0 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(ev.fflags == (NOTE_WRITE | NOTE_ATTRIB));
    CHECK(link("/tmp/test-vnode", "/tmp/test-second") == 0);
    CHECK(rename("/tmp/test-second", "/tmp/test-third") == 0 && unlink("/tmp/test-third") == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1 && ev.fflags == (NOTE_LINK | NOTE_RENAME));
    CHECK(unlink("/tmp/test-vnode") == 0 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(ev.fflags & NOTE_DELETE);
    close(fd);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    close(kq);
}

static void directories_are_vnodes(void)
{
    int kq = kqueue(), fd = open("/tmp", O_RDONLY);
    struct kevent ev;

    CHECK(add_notes(kq, fd, EVFILT_VNODE, EV_CLEAR, NOTE_WRITE | NOTE_LINK) == 0);
    CHECK(mkdir("/tmp/test-d", 0700) == 0 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 1);
    CHECK(ev.fflags == (NOTE_WRITE | NOTE_LINK) && rmdir("/tmp/test-d") == 0);
    close(kq), close(fd);
}

static void processes_tell_fork_exec_and_exit(void)
{
    char *argv[] = {"queues", "exit", NULL};
    int kq = kqueue(), go[2], status;
    struct kevent ev;
    char c;

    CHECK(pipe(go) == 0);
    pid_t pid = fork();
    if (!pid) {
        if (read(go[0], &c, 1) != 1 || (pid = fork()) < 0)
            _exit(1);
        if (!pid)
            _exit(0);
        waitpid(pid, &status, 0);
        execv("/proc/self/exe", argv);
        _exit(1);
    }
    CHECK(add_notes(kq, pid, EVFILT_PROC, 0, NOTE_EXIT | NOTE_FORK | NOTE_EXEC) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0 && write(go[1], "x", 1) == 1);
    unsigned seen = 0;
    while (!(seen & NOTE_EXIT) && kevent(kq, NULL, 0, &ev, 1, &a_second) == 1)
        seen |= ev.fflags;
    CHECK(seen == (NOTE_EXIT | NOTE_FORK | NOTE_EXEC) && ev.ident == (uintptr_t)pid);
    CHECK(ev.flags & EV_EOF && WIFEXITED((int)ev.data) && WEXITSTATUS((int)ev.data) == 7);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);        /* it was the last one */
    CHECK(add_notes(kq, pid, EVFILT_PROC, 0, NOTE_EXIT) == 0); /* a zombie has exited */
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 1 && ev.fflags == NOTE_EXIT);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7);
    CHECK(add_notes(kq, pid, EVFILT_PROC, 0, NOTE_EXIT) == -1 && errno == ESRCH);
    close(kq), close(go[0]), close(go[1]);
}

static void signals_are_counted_even_ignored(void)
{
    int kq = kqueue();
    struct kevent ev;

    signal(SIGUSR1, SIG_IGN);
    CHECK(add_notes(kq, SIGUSR1, EVFILT_SIGNAL, 0, 0) == 0);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    kill(getpid(), SIGUSR1), raise(SIGUSR1);
    CHECK(kevent(kq, NULL, 0, &ev, 1, &a_second) == 1 && ev.filter == EVFILT_SIGNAL);
    CHECK(ev.ident == SIGUSR1 && ev.data == 2 && kevent(kq, NULL, 0, &ev, 1, &now_only) == 0);
    CHECK(add_notes(kq, 65, EVFILT_SIGNAL, 0, 0) == -1 && errno == EINVAL);
    signal(SIGUSR1, SIG_DFL);
    close(kq);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "exit"))
        return 7;
    RUN(reads_are_level_triggered);
    RUN(clear_reports_changes_only);
    RUN(oneshot_goes_and_dispatch_sleeps);
    RUN(timers_fire);
    RUN(user_events_trigger);
    RUN(queues_watch_queues);
    RUN(errors_are_events);
    RUN(children_do_not_inherit);
    RUN(sockets_refuse_queues);
    RUN(vnodes_tell_what_happened);
    RUN(directories_are_vnodes);
    RUN(processes_tell_fork_exec_and_exit);
    RUN(signals_are_counted_even_ignored);
    DONE();
}

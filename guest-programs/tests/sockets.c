/* Local sockets: streams, datagrams, names, descriptors in messages. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static void pairs_carry_bytes_both_ways(void)
{
    int s[2];
    char buf[16];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    CHECK(write(s[0], "abc", 3) == 3 && write(s[0], "def", 3) == 3);
    CHECK(read(s[1], buf, 16) == 6 && !memcmp(buf, "abcdef", 6));
    CHECK(send(s[1], "x", 1, 0) == 1 && recv(s[0], buf, 16, MSG_PEEK) == 1);
    CHECK(recv(s[0], buf, 16, 0) == 1 && recv(s[0], buf, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    close(s[0]);
    CHECK(read(s[1], buf, 16) == 0);
    CHECK(send(s[1], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    close(s[1]);
}

static void datagrams_keep_boundaries(void)
{
    int s[2];
    char buf[4];

    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    CHECK(send(s[0], "hello", 5, 0) == 5 && send(s[0], "b", 1, 0) == 1);
    CHECK(recv(s[1], buf, 4, MSG_TRUNC) == 5 && recv(s[1], buf, 4, 0) == 1 && buf[0] == 'b');
    close(s[0]), close(s[1]);
}

static struct sockaddr_un name_of(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    strcpy(a.sun_path, path);
    return a;
}

static void listeners_accept(void)
{
    struct sockaddr_un a = name_of("/tmp/test-socket"), peer;
    socklen_t len = sizeof(peer);
    int l = socket(AF_UNIX, SOCK_STREAM, 0), status;
    char buf[8];

    unlink("/tmp/test-socket");
    CHECK(bind(l, (void *)&a, sizeof(a)) == 0);
    CHECK(bind(l, (void *)&a, sizeof(a)) == -1 && errno == EADDRINUSE);
    CHECK(listen(l, 4) == 0);
    pid_t pid = fork();
    if (!pid) {
        int c = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(c, (void *)&a, sizeof(a)) || write(c, "ping", 4) != 4 || read(c, buf, 8) != 4)
            _exit(1);
        _exit(memcmp(buf, "pong", 4) != 0);
    }
    int c = accept(l, (void *)&peer, &len);
    CHECK(c >= 0 && peer.sun_family == AF_UNIX && read(c, buf, 8) == 4);
    struct ucred cred;
    len = sizeof(cred);
    CHECK(getsockopt(c, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0 && cred.pid == pid);
    CHECK(write(c, "pong", 4) == 4 && waitpid(pid, &status, 0) == pid && status == 0);
    close(c), close(l);
    int n = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(n, (void *)&a, sizeof(a)) == -1 && errno == ECONNREFUSED);
    CHECK(unlink("/tmp/test-socket") == 0);
    CHECK(connect(n, (void *)&a, sizeof(a)) == -1 && errno == ENOENT);
    close(n);
}

static void abstract_names_work(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0kcovbox-test"};
    int r = socket(AF_UNIX, SOCK_DGRAM, 0), s = socket(AF_UNIX, SOCK_DGRAM, 0);
    char buf[8];

    CHECK(bind(r, (void *)&a, 2 + 13) == 0);
    CHECK(sendto(s, "hi", 2, 0, (void *)&a, 2 + 13) == 2 && recv(r, buf, 8, 0) == 2);
    CHECK(bind(s, (void *)&a, 2 + 13) == -1 && errno == EADDRINUSE);
    close(r);
    CHECK(sendto(s, "hi", 2, 0, (void *)&a, 2 + 13) == -1 && errno == ECONNREFUSED);
    close(s);
}

static int send_fd(int s, int fd)
{
    char space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec iov = {"f", 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return (int)sendmsg(s, &m, 0);
}

static int receive_fd(int s)
{
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space)};
    struct cmsghdr *c;
    int fd;

    if (recvmsg(s, &m, 0) != 1 || !(c = CMSG_FIRSTHDR(&m)) || c->cmsg_type != SCM_RIGHTS)
        return -1;
    memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    return fd;
}

static void descriptors_travel(void)
{
    int s[2], p[2], fd;
    char c;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pipe(p) == 0);
    CHECK(send_fd(s[0], p[0]) == 1 && close(p[0]) == 0);
    CHECK(write(p[1], "x", 1) == 1);
    fd = receive_fd(s[1]);
    CHECK(fd >= 0 && read(fd, &c, 1) == 1 && c == 'x');
    close(fd);
    CHECK(send_fd(s[0], 999) == -1 && errno == EBADF);
    CHECK(send_fd(s[0], p[1]) == 1); /* dies in flight with its socket */
    close(s[0]), close(s[1]), close(p[1]);
}

/* Does the pipe's last writer go? Linux collects in the background. */
static int ends(int fd)
{
    struct pollfd f = {fd, POLLIN, 0};
    char c;
    int s[2];

    for (int i = 0; i < 100; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
            return 0;
        close(s[0]), close(s[1]); /* a close is when it looks */
        if (poll(&f, 1, 10) == 1)
            return read(fd, &c, 1) == 0;
    }
    return 0;
}

static void sockets_in_each_other_are_collected(void)
{
    int s[2], t[2], p[2];

    CHECK(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, t) == 0);
    CHECK(send_fd(s[0], p[1]) == 1 && send_fd(s[0], t[0]) == 1 && send_fd(t[1], s[1]) == 1);
    close(p[1]), close(t[0]), close(t[1]), close(s[1]);
    close(s[0]); /* s[1] waits in t[0], which waits in s[1] */
    CHECK(ends(p[0]));
    close(p[0]);
}

static void what_can_be_received_is_kept(void)
{
    int s[2], t[2], p[2], fd;
    char c;

    CHECK(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, t) == 0);
    CHECK(send_fd(t[1], p[1]) == 1 && send_fd(t[1], t[0]) == 1 && send_fd(s[0], t[0]) == 1);
    close(p[1]), close(t[0]), close(t[1]);
    struct pollfd f = {p[0], POLLIN, 0};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, t) == 0 && close(t[0]) == 0 && close(t[1]) == 0);
    CHECK(poll(&f, 1, 20) == 0);
    t[0] = receive_fd(s[1]);
    fd = receive_fd(t[0]);
    CHECK(write(fd, "y", 1) == 1 && read(p[0], &c, 1) == 1 && c == 'y');
    close(fd), close(t[0]), close(s[0]), close(s[1]); /* t[0] is still in its own queue */
    CHECK(ends(p[0]));
    close(p[0]);
}

/* Unaccepted connections count as the listener's. */
static void a_listener_in_its_own_backlog_is_collected(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX, .sun_path = "\0test-own"};
    int l = socket(AF_UNIX, SOCK_STREAM, 0), c = socket(AF_UNIX, SOCK_STREAM, 0), p[2];

    CHECK(pipe(p) == 0 && bind(l, (void *)&a, 2 + 9) == 0 && listen(l, 5) == 0);
    CHECK(connect(c, (void *)&a, 2 + 9) == 0);
    CHECK(send_fd(c, p[1]) == 1 && send_fd(c, l) == 1);
    close(l), close(p[1]), close(c);
    CHECK(ends(p[0]));
    close(p[0]);
}

/* Each holds the one before in its queue; closing the last one closes them all. */
static void a_long_chain_goes_link_by_link(void)
{
    int s[2], p[2], before;

    CHECK(pipe(p) == 0);
    before = p[1];
    for (int i = 0; i < 1000; i++) {
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
        if (send_fd(s[0], before) != 1) {
            CHECK(errno == ETOOMANYREFS); /* Linux bounds what a user has in flight */
            close(s[0]), close(s[1]);
            break;
        }
        close(before), close(s[0]);
        before = s[1];
    }
    close(before);
    CHECK(ends(p[0]));
    close(p[0]);
}

static int option(int s, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    return getsockopt(s, SOL_SOCKET, name, &value, &len) == 0 && len == 4 ? value : -errno;
}

static int set(int s, int name, int value)
{
    return setsockopt(s, SOL_SOCKET, name, &value, sizeof(value));
}

static void options_are_kept(void)
{
    static const int flags[] = {SO_REUSEADDR, SO_BROADCAST, SO_KEEPALIVE, SO_OOBINLINE,
                                SO_DONTROUTE, SO_PASSCRED,  SO_TIMESTAMP};
    struct linger l = {1, 7}, m = {0, 0};
    struct timeval t = {3, 250000}, u;
    int s[2];
    socklen_t len;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        CHECK(option(s[0], flags[i]) == 0 && set(s[0], flags[i], 5) == 0);
        CHECK(option(s[0], flags[i]) == 1 && option(s[1], flags[i]) == 0);
        CHECK(set(s[0], flags[i], 0) == 0 && option(s[0], flags[i]) == 0);
    }
    CHECK(option(s[0], SO_SNDBUF) == 212992 && option(s[0], SO_RCVBUF) == 212992);
    CHECK(set(s[0], SO_SNDBUF, 10000) == 0 && option(s[0], SO_SNDBUF) == 20000);
    CHECK(set(s[0], SO_SNDBUF, 1) == 0 && option(s[0], SO_SNDBUF) == 4608);
    CHECK(set(s[0], SO_RCVBUF, 0) == 0 && option(s[0], SO_RCVBUF) == 2304);
    CHECK(set(s[0], SO_PRIORITY, 3) == 0 && option(s[0], SO_PRIORITY) == 3);
    CHECK(option(s[0], SO_TYPE) == SOCK_STREAM && option(s[0], SO_DOMAIN) == AF_UNIX);
    CHECK(setsockopt(s[0], SOL_SOCKET, SO_LINGER, &l, sizeof(l)) == 0);
    len = sizeof(m);
    CHECK(getsockopt(s[0], SOL_SOCKET, SO_LINGER, &m, &len) == 0 && m.l_onoff && m.l_linger == 7);
    CHECK(setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)) == 0);
    len = sizeof(u);
    CHECK(getsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &u, &len) == 0 && len == sizeof(u));
    CHECK(u.tv_sec == 3 && labs(u.tv_usec - 250000) < 10000);
    CHECK(set(s[0], 9999, 1) == -1 && errno == ENOPROTOOPT && option(s[0], 9999) == -ENOPROTOOPT);
    CHECK(setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &l, 2) == -1 && errno == EINVAL);
    close(s[0]), close(s[1]);
}

static void big_writes_block_until_read(void)
{
    char *big = malloc(1000000);
    int s[2], status;
    ssize_t total = 0, n;

    CHECK(big && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    pid_t pid = fork();
    if (!pid) {
        close(s[0]);
        _exit(write(s[1], big, 1000000) != 1000000);
    }
    close(s[1]);
    while ((n = read(s[0], big, 50000)) > 0)
        total += n;
    CHECK(total == 1000000 && waitpid(pid, &status, 0) == pid && status == 0);
    close(s[0]);
    free(big);
}

static void shutdown_ends_one_direction(void)
{
    int s[2];
    char c;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && shutdown(s[0], SHUT_WR) == 0);
    CHECK(read(s[1], &c, 1) == 0 && write(s[1], "x", 1) == 1 && read(s[0], &c, 1) == 1);
    CHECK(send(s[0], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
    struct pollfd f = {s[1], POLLIN | POLLRDHUP, 0};
    CHECK(poll(&f, 1, 0) == 1 && f.revents == (POLLIN | POLLRDHUP));
    close(s[0]), close(s[1]);
}

static void wrong_kinds_are_refused(void)
{
    int s;

    CHECK(socket(63, SOCK_STREAM, 0) == -1 && errno == EAFNOSUPPORT);
    CHECK(socket(AF_UNIX, SOCK_STREAM, 99) == -1 && errno == EPROTONOSUPPORT);
    s = open("/dev/null", O_RDONLY);
    CHECK(listen(s, 1) == -1 && errno == ENOTSOCK && close(s) == 0);
    s = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(write(s, "x", 1) == -1 && errno == ENOTCONN);
    CHECK(listen(s, 1) == -1 && errno == EINVAL);
    close(s);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    RUN(pairs_carry_bytes_both_ways);
    RUN(datagrams_keep_boundaries);
    RUN(listeners_accept);
    RUN(abstract_names_work);
    RUN(descriptors_travel);
    RUN(sockets_in_each_other_are_collected);
    RUN(what_can_be_received_is_kept);
    RUN(a_listener_in_its_own_backlog_is_collected);
    RUN(a_long_chain_goes_link_by_link);
    RUN(options_are_kept);
    RUN(big_writes_block_until_read);
    RUN(shutdown_ends_one_direction);
    RUN(wrong_kinds_are_refused);
    DONE();
}

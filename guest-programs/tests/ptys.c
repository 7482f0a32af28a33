/* Pseudo-terminals: names, both ends, line editing, flow control, hanging up, packet mode. */
#define _GNU_SOURCE
#include "check.h"
#include "pair.h"
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

static void a_pair_has_a_name(void)
{
    char name[64], again[64];
    struct stat st, at;
    struct pair p;
    int n;

    CHECK(open_pair(&p) == 0);
    CHECK(ioctl(p.master, TIOCGPTN, &n) == 0 && n >= 0);
    snprintf(name, sizeof name, "/dev/pts/%d", n);
    CHECK(ptsname_r(p.master, again, sizeof again) == 0 && !strcmp(name, again));
    CHECK(isatty(p.master) && isatty(p.slave));
    CHECK(ttyname_r(p.slave, again, sizeof again) == 0 && !strcmp(name, again));
    CHECK(stat(name, &st) == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 136);
    CHECK(minor(st.st_rdev) == (unsigned)n && (int)st.st_ino == n + 3 && st.st_uid == geteuid());
    CHECK(fstat(p.slave, &at) == 0 && at.st_ino == st.st_ino && at.st_dev == st.st_dev);
    CHECK(ptsname_r(p.slave, again, sizeof again) == ENOTTY);
    CHECK(ioctl(p.slave, TIOCGPTN, &n) == -1 && errno == ENOTTY);
    CHECK(lseek(p.master, 0, SEEK_CUR) == -1 && errno == ESPIPE);
    close_pair(&p);
    CHECK(stat(name, &st) == -1 && errno == ENOENT);
    CHECK(unlink("/dev/pts/ptmx") == -1 && mkdir("/dev/pts/d", 0700) == -1);
}

static void numbers_are_the_lowest_free(void)
{
    struct pair a, b, c;
    int na, nb, nc;

    CHECK(open_pair(&a) == 0 && open_pair(&b) == 0);
    CHECK(ioctl(a.master, TIOCGPTN, &na) == 0 && ioctl(b.master, TIOCGPTN, &nb) == 0 && nb > na);
    close(a.master);
    CHECK(open_pair(&c) == 0);
    CHECK(ioctl(c.master, TIOCGPTN, &nc) == 0 && nc != na && nc != nb);
    close_pair(&c);
    close(a.slave);
    close_pair(&b);
}

static void a_locked_slave_does_not_open(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), off = 0, fd;
    char name[64];

    CHECK(master >= 0 && ptsname_r(master, name, sizeof name) == 0);
    CHECK(open(name, O_RDWR | O_NOCTTY) == -1 && errno == EIO);
    CHECK(ioctl(master, TIOCSPTLCK, &off) == 0);
    fd = open(name, O_RDWR | O_NOCTTY);
    CHECK(fd >= 0);
    close(fd);
    close(master);
}

static void lock_and_packet_mode_can_be_asked(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), on = 1, value = -1;

    CHECK(master >= 0 && ioctl(master, TIOCGPTLCK, &value) == 0 && value == 1);
    CHECK(unlockpt(master) == 0 && ioctl(master, TIOCGPTLCK, &value) == 0 && value == 0);
    CHECK(ioctl(master, TIOCGPKT, &value) == 0 && value == 0);
    CHECK(ioctl(master, TIOCPKT, &on) == 0 && ioctl(master, TIOCGPKT, &value) == 0 && value == 1);
    close(master);
}

static void a_peer_opens_without_a_name(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), peer;
    char name[64], shown[64];

    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    peer = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(peer >= 0 && isatty(peer) && fcntl(peer, F_GETFD) == FD_CLOEXEC);
    CHECK(ptsname_r(master, name, sizeof name) == 0);
    CHECK(ttyname_r(peer, shown, sizeof shown) == 0 && !strcmp(name, shown));
    CHECK(sends(peer, "x\n") && gives(master, "x\r\n"));
    close(peer);
    close(master);
}

static void a_line_is_edited_and_echoed(void)
{
    struct pair p;
    char buf[32];

    CHECK(open_pair(&p) == 0 && set_nonblock(p.slave) == 0);
    CHECK(sends(p.master, "helo\177lo") && gives(p.master, "helo\b \blo"));
    CHECK(read(p.slave, buf, sizeof buf) == -1 && errno == EAGAIN);
    CHECK(sends(p.master, "\r") && gives(p.master, "\r\n"));
    CHECK(comes_to(p.slave, POLLIN | POLLOUT));
    CHECK(read(p.slave, buf, sizeof buf) == 6 && !memcmp(buf, "hello\n", 6));
    CHECK(sends(p.master, "ab\004") && read_n(p.slave, buf, 2) == 2 && !memcmp(buf, "ab", 2));
    CHECK(gives(p.master, "ab") && sends(p.master, "\004") && comes_to(p.slave, POLLIN | POLLOUT));
    CHECK(read(p.slave, buf, sizeof buf) == 0);
    CHECK(read(p.slave, buf, sizeof buf) == -1 && errno == EAGAIN);
    close_pair(&p);
}

static void raw_bytes_pass_both_ways(void)
{
    unsigned char all[256], buf[256];
    struct pair p;
    int n;

    CHECK(open_pair(&p) == 0 && set_raw(p.slave) == 0);
    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    CHECK(write(p.master, all, 256) == 256 && read_n(p.slave, (char *)buf, 256) == 256);
    CHECK(!memcmp(all, buf, 256));
    CHECK(write(p.slave, all, 256) == 256 && comes_to(p.master, POLLIN | POLLOUT));
    CHECK(ioctl(p.master, FIONREAD, &n) == 0 && n == 256);
    CHECK(read(p.master, buf, 100) == 100 && read_n(p.master, (char *)buf + 100, 156) == 156);
    CHECK(!memcmp(all, buf, 256));
    close_pair(&p);
}

static void modes_and_size_are_shared(void)
{
    struct winsize w = {.ws_row = 1}, set = {.ws_row = 33, .ws_col = 101};
    struct termios a, b;
    struct pair p;

    CHECK(open_pair(&p) == 0);
    CHECK(ioctl(p.slave, TIOCGWINSZ, &w) == 0 && w.ws_row == 0 && w.ws_col == 0);
    CHECK(ioctl(p.master, TIOCSWINSZ, &set) == 0 && ioctl(p.slave, TIOCGWINSZ, &w) == 0);
    CHECK(w.ws_row == 33 && w.ws_col == 101);
    CHECK(tcgetattr(p.master, &a) == 0 && a.c_lflag & ICANON && a.c_oflag & ONLCR);
    a.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    CHECK(tcsetattr(p.master, TCSANOW, &a) == 0 && tcgetattr(p.slave, &b) == 0);
    CHECK(a.c_lflag == b.c_lflag);
    close_pair(&p);
}

/* Fills one end until EAGAIN, then empties the other; the bytes must be the same. */
static void fill_and_drain(int in, int out)
{
    static char text[1000], buf[4096];
    long filled = 0, drained = 0;
    ssize_t n;

    memset(text, 'x', sizeof text);
    for (int tries = 0; tries < 20;) {
        n = write(in, text, sizeof text);
        if (n > 0) {
            filled += n;
            CHECK(filled < 1 << 20);
        } else {
            CHECK(n == -1 && errno == EAGAIN);
            tries++;
            usleep(2000);
        }
    }
    CHECK(filled >= 4096 && !(events_of(in) & POLLOUT));
    while (drained < filled) {
        n = read_n(out, buf, (int)(filled - drained < 4096 ? filled - drained : 4096));
        CHECK(n > 0);
        drained += n;
    }
    CHECK(comes_to(in, POLLOUT));
}

static void queues_are_bounded(void)
{
    struct pair p;

    CHECK(open_pair(&p) == 0 && set_raw(p.slave) == 0);
    CHECK(set_nonblock(p.master) == 0 && set_nonblock(p.slave) == 0);
    fill_and_drain(p.slave, p.master);
    if (!check_failed)
        fill_and_drain(p.master, p.slave);
    close_pair(&p);
}

static void a_writer_waits_for_its_reader(void)
{
    static char text[100000], buf[5000];
    long total = 0;
    struct pair p;
    int status, n;
    pid_t pid;

    CHECK(open_pair(&p) == 0 && set_raw(p.slave) == 0);
    pid = fork();
    if (!pid) {
        close(p.master);
        for (unsigned i = 0; i < sizeof text; i++)
            text[i] = (char)(i % 251);
        _exit(write(p.slave, text, sizeof text) == sizeof text ? 0 : 1);
    }
    close(p.slave);
    for (; (n = read_n(p.master, buf, sizeof buf)) > 0; total += n)
        for (int i = 0; i < n; i++)
            CHECK((unsigned char)buf[i] == (total + i) % 251);
    CHECK(total == sizeof text && waitpid(pid, &status, 0) == pid && status == 0);
    close(p.master);
}

static void no_slave_is_an_end_that_can_pass(void)
{
    struct pair p;
    char name[64], buf[8];

    CHECK(open_pair(&p) == 0 && ptsname_r(p.master, name, sizeof name) == 0);
    CHECK(sends(p.slave, "bye") && comes_to(p.master, POLLIN | POLLOUT));
    close(p.slave);
    CHECK(comes_to(p.master, POLLIN | POLLOUT | POLLHUP) && gives(p.master, "bye"));
    CHECK(read(p.master, buf, 8) == -1 && errno == EIO);
    CHECK(events_of(p.master) == (POLLOUT | POLLHUP));
    p.slave = open(name, O_RDWR | O_NOCTTY);
    CHECK(p.slave >= 0 && events_of(p.master) == POLLOUT && set_nonblock(p.master) == 0);
    CHECK(read(p.master, buf, 8) == -1 && errno == EAGAIN);
    CHECK(sends(p.slave, "new") && gives(p.master, "new"));
    close_pair(&p);
}

static void without_its_master_a_slave_is_dead(void)
{
    struct termios t;
    struct pair p;
    char name[64], buf[8];

    CHECK(open_pair(&p) == 0 && ptsname_r(p.master, name, sizeof name) == 0);
    CHECK(sends(p.master, "left\n") && comes_to(p.slave, POLLIN | POLLOUT));
    close(p.master);
    CHECK(read(p.slave, buf, 8) == 0 && read(p.slave, buf, 8) == 0);
    CHECK(write(p.slave, "x", 1) == -1 && errno == EIO);
    CHECK(events_of(p.slave) == (POLLIN | POLLOUT | POLLERR | POLLHUP));
    CHECK(tcgetattr(p.slave, &t) == -1 && errno == EIO);
    CHECK(open(name, O_RDWR | O_NOCTTY) == -1 && errno == ENOENT);
    close(p.slave);
}

static void a_waiting_reader_hears_the_hang_up(void)
{
    struct pair p;
    int status;
    pid_t pid;

    CHECK(open_pair(&p) == 0);
    pid = fork();
    if (!pid) {
        char c;
        close(p.master);
        _exit(read(p.slave, &c, 1) == -1 && errno == EIO && read(p.slave, &c, 1) == 0 ? 0 : 1);
    }
    usleep(50000);
    close(p.master);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(p.slave);
}

static void stopped_output_waits(void)
{
    struct pair p;

    CHECK(open_pair(&p) == 0 && set_nonblock(p.slave) == 0);
    CHECK(sends(p.master, "\023") && comes_to(p.slave, 0));
    CHECK(write(p.slave, "x", 1) == -1 && errno == EAGAIN);
    CHECK(sends(p.master, "\021") && comes_to(p.slave, POLLOUT));
    CHECK(sends(p.slave, "x") && gives(p.master, "x"));
    CHECK(tcflow(p.slave, TCOOFF) == 0 && write(p.slave, "x", 1) == -1 && errno == EAGAIN);
    CHECK(tcflow(p.slave, TCOON) == 0 && sends(p.slave, "y") && gives(p.master, "y"));
    CHECK(tcflow(p.slave, TCIOFF) == 0 && gives(p.master, "\023"));
    CHECK(tcflow(p.slave, TCION) == 0 && gives(p.master, "\021"));
    close_pair(&p);
}

static void flushing_forgets_input(void)
{
    struct pair p;
    char buf[8];
    int n;

    CHECK(open_pair(&p) == 0 && set_raw(p.slave) == 0 && set_nonblock(p.slave) == 0);
    CHECK(sends(p.master, "lost") && comes_to(p.slave, POLLIN | POLLOUT));
    CHECK(tcflush(p.slave, TCIFLUSH) == 0 && read(p.slave, buf, 8) == -1 && errno == EAGAIN);
    CHECK(sends(p.slave, "lost") && comes_to(p.master, POLLIN | POLLOUT));
    CHECK(tcflush(p.master, TCIFLUSH) == 0 && ioctl(p.master, FIONREAD, &n) == 0 && n == 0);
    CHECK(sends(p.slave, "kept") && gives(p.master, "kept"));
    close_pair(&p);
}

static void packets_tell_what_happens(void)
{
    struct pair p;
    char buf[16];
    int on = 1, off = 0;

    CHECK(open_pair(&p) == 0 && ioctl(p.master, TIOCPKT, &on) == 0);
    CHECK(sends(p.slave, "data") && comes_to(p.master, POLLIN | POLLOUT));
    CHECK(read(p.master, buf, sizeof buf) == 5 && !memcmp(buf, "\0data", 5));
    CHECK(tcflush(p.slave, TCIFLUSH) == 0);
    CHECK(comes_to(p.master, POLLIN | POLLPRI | POLLOUT));
    CHECK(read(p.master, buf, sizeof buf) == 1 && buf[0] == TIOCPKT_FLUSHREAD);
    CHECK(tcflow(p.slave, TCOOFF) == 0 && comes_to(p.master, POLLIN | POLLPRI | POLLOUT));
    CHECK(read(p.master, buf, sizeof buf) == 1 && buf[0] == TIOCPKT_STOP);
    CHECK(tcflow(p.slave, TCOON) == 0 && comes_to(p.master, POLLIN | POLLPRI | POLLOUT));
    CHECK(read(p.master, buf, sizeof buf) == 1 && buf[0] == TIOCPKT_START);
    CHECK(set_raw(p.slave) == 0 && comes_to(p.master, POLLIN | POLLPRI | POLLOUT));
    CHECK(read(p.master, buf, sizeof buf) == 1 && buf[0] == TIOCPKT_NOSTOP);
    CHECK(ioctl(p.master, TIOCPKT, &off) == 0 && sends(p.slave, "x") && gives(p.master, "x"));
    close_pair(&p);
}

static void epoll_sees_both_ends(void)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = 1};
    int ep = epoll_create1(0);
    struct pair p;

    CHECK(ep >= 0 && open_pair(&p) == 0 && set_raw(p.slave) == 0);
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, p.master, &e) == 0);
    e.data.u32 = 2;
    CHECK(epoll_ctl(ep, EPOLL_CTL_ADD, p.slave, &e) == 0 && epoll_wait(ep, &e, 1, 0) == 0);
    CHECK(sends(p.slave, "x") && epoll_wait(ep, &e, 1, 1000) == 1 && e.data.u32 == 1);
    CHECK(e.events == EPOLLIN && epoll_wait(ep, &e, 1, 0) == 0);
    CHECK(sends(p.master, "y") && epoll_wait(ep, &e, 1, 1000) == 1 && e.data.u32 == 2);
    CHECK(e.events == EPOLLIN && epoll_wait(ep, &e, 1, 0) == 0);
    close(p.master);
    CHECK(epoll_wait(ep, &e, 1, 1000) == 1 && e.data.u32 == 2);
    CHECK((e.events & (EPOLLIN | EPOLLHUP)) == (EPOLLIN | EPOLLHUP));
    close(p.slave);
    close(ep);
}

static int pass(int socket, int fd)
{
    char space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec v = {"m", 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(socket, &m, 0) == 1;
}

static int passed(int socket)
{
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec v = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd = -1;

    if (recvmsg(socket, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void a_master_travels_through_a_socket(void)
{
    struct pair p;
    int s[2], master;
    char c;

    CHECK(open_pair(&p) == 0 && set_raw(p.slave) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0 && pass(s[0], p.master));
    close(p.master);
    CHECK(sends(p.slave, "x")); /* the message keeps it open */
    master = passed(s[1]);
    CHECK(master >= 0 && gives(master, "x") && pass(s[0], master));
    close(master);
    close(s[0]);
    close(s[1]); /* with the message in it */
    CHECK(comes_to(p.slave, POLLIN | POLLOUT | POLLERR | POLLHUP) && read(p.slave, &c, 1) == 0);
    close(p.slave);
}

static void many_come_and_go(void)
{
    struct pair p[40];
    char buf[8];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++)
            CHECK(open_pair(&p[i]) == 0 && sends(p[i].slave, "z"));
        for (int i = 39; i >= 0; i--) {
            CHECK(read_n(p[i].master, buf, 1) == 1);
            close_pair(&p[i]);
        }
    }
}

int main(void)
{
    RUN(a_pair_has_a_name);
    RUN(numbers_are_the_lowest_free);
    RUN(a_locked_slave_does_not_open);
    RUN_ON_KERNEL(lock_and_packet_mode_can_be_asked);
    RUN(a_peer_opens_without_a_name);
    RUN(a_line_is_edited_and_echoed);
    RUN(raw_bytes_pass_both_ways);
    RUN(modes_and_size_are_shared);
    RUN(queues_are_bounded);
    RUN(a_writer_waits_for_its_reader);
    RUN(no_slave_is_an_end_that_can_pass);
    RUN(without_its_master_a_slave_is_dead);
    RUN(a_waiting_reader_hears_the_hang_up);
    RUN(stopped_output_waits);
    RUN(flushing_forgets_input);
    RUN(packets_tell_what_happens);
    RUN(epoll_sees_both_ends);
    RUN(a_master_travels_through_a_socket);
    RUN(many_come_and_go);
    DONE();
}

/* Sessions and job control on pseudo-terminals: owners of a terminal, and its signals. */
#define _GNU_SOURCE
#include "check.h"
#include "pair.h"
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

static volatile sig_atomic_t seen_signal, seen_count;

static void note_signal(int sig)
{
    seen_signal = sig;
    seen_count++;
}

static void catch_signal(int sig)
{
    struct sigaction sa = {.sa_handler = note_signal};

    sigaction(sig, &sa, NULL);
}

static int wait_for_signal(int sig)
{
    for (int i = 0; i < 200 && seen_signal != sig; i++)
        usleep(5000);
    return seen_signal == sig;
}

/* A child that leads a session on the slave, its descriptor 0, and says "ready" there. */
static pid_t start_session(struct pair *p, void (*body)(void))
{
    pid_t pid = fork();

    if (!pid) {
        close(p->master);
        alarm(20);
        if (setsid() < 0 || ioctl(p->slave, TIOCSCTTY, 0) != 0 || set_raw(p->slave) != 0)
            _exit(100);
        dup2(p->slave, 0);
        body();
        _exit(101);
    }
    close(p->slave);
    return pid;
}

static int exit_status(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void session_of_its_own(void)
{
    int group, fd = open("/dev/tty", O_RDWR), again;

    if (fd < 0 || ioctl(fd, TIOCGPGRP, &group) != 0 || group != getpid())
        _exit(1);
    if (ioctl(0, TIOCSCTTY, 0) != 0)
        _exit(3);
    again = posix_openpt(O_RDWR);
    if (again < 0 || grantpt(again) != 0 || unlockpt(again) != 0)
        _exit(4);
    if (tcgetpgrp(again) != 0) /* the second terminal is nobody's */
        _exit(5);
    if (tcsetpgrp(0, 1) != -1 || errno != EPERM)
        _exit(6);
    if (ioctl(0, TIOCNOTTY) != 0 || open("/dev/tty", O_RDWR) != -1 || errno != ENXIO)
        _exit(7);
    _exit(0);
}

static void ignore_hup_and_own_session(void)
{
    signal(SIGHUP, SIG_IGN);
    session_of_its_own();
}

static void a_session_has_one_terminal(void)
{
    struct pair p;

    CHECK(open_pair(&p) == 0);
    CHECK(exit_status(start_session(&p, ignore_hup_and_own_session)) == 0);
    close(p.master);
}

static void ask_for_the_session(void)
{
    int fd = open("/dev/tty", O_RDWR), other = posix_openpt(O_RDWR);

    if (fd < 0 || other < 0 || tcgetsid(fd) != getpid() || tcgetsid(0) != getpid())
        _exit(1);
    _exit(tcgetsid(other) == -1 && errno == ENOTTY ? 0 : 2);
}

static void a_terminal_knows_its_session(void)
{
    struct pair p;
    pid_t pid;

    CHECK(open_pair(&p) == 0);
    pid = start_session(&p, ask_for_the_session);
    CHECK(exit_status(pid) == 0);
    CHECK(tcgetsid(p.master) == -1 && errno == ENOTTY); /* it has ended */
    close(p.master);
}

/* Opening without O_NOCTTY is enough for a leader; other sessions then may not have it. */
static void the_first_to_open_gets_it(void)
{
    struct pair p;
    char name[64];
    pid_t pid;

    CHECK(open_pair(&p) == 0 && ptsname_r(p.master, name, sizeof name) == 0);
    pid = fork();
    if (!pid) {
        int fd;
        setsid();
        if (open("/dev/tty", O_RDWR) != -1 || errno != ENXIO)
            _exit(1);
        fd = open(name, O_RDWR);
        if (fd < 0 || tcgetpgrp(fd) != getpid())
            _exit(2);
        if (!fork()) {
            setsid();
            _exit(tcgetpgrp(fd) == -1 && errno == ENOTTY && tcsetpgrp(fd, getpid()) == -1 ? 0 : 1);
        }
        int status;
        wait(&status);
        _exit(status ? 3 : 0);
    }
    CHECK(exit_status(pid) == 0);
    close_pair(&p);
}

static void report_signals(void)
{
    static const int wanted[] = {SIGINT, SIGQUIT, SIGTSTP, SIGWINCH, SIGINT};
    struct termios t;

    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        catch_signal(wanted[i]);
    tcgetattr(0, &t);
    t.c_lflag |= ISIG;
    tcsetattr(0, TCSANOW, &t);
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        seen_signal = 0;
        if (write(0, "r", 1) != 1 || !wait_for_signal(wanted[i]))
            _exit(1 + (int)i);
    }
    _exit(0);
}

static void keys_size_and_master_send_signals(void)
{
    struct winsize w = {.ws_row = 5, .ws_col = 6};
    struct pair p;
    pid_t pid, group;

    CHECK(open_pair(&p) == 0);
    pid = start_session(&p, report_signals);
    CHECK(gives(p.master, "r") && sends(p.master, "\003"));
    CHECK(gives(p.master, "r") && sends(p.master, "\034"));
    CHECK(gives(p.master, "r") && sends(p.master, "\032"));
    CHECK(gives(p.master, "r") && ioctl(p.master, TIOCSWINSZ, &w) == 0);
    CHECK(gives(p.master, "r"));
    CHECK(ioctl(p.master, TIOCGPGRP, &group) == 0 && group == pid);
    CHECK(sends(p.master, "\003"));
    CHECK(exit_status(pid) == 0);
    close(p.master);
}

static void wait_for_hang_up(void)
{
    int status;
    char c;
    pid_t pid;

    catch_signal(SIGHUP);
    catch_signal(SIGCONT);
    seen_signal = 0;
    pid = fork();
    if (!pid) { /* in the foreground group with its leader */
        while (seen_signal != SIGHUP)
            usleep(1000);
        _exit(getppid() == 1 || read(0, &c, 1) == 0 ? 0 : 1);
    }
    if (write(0, "r", 1) != 1)
        _exit(1);
    for (int i = 0; i < 400 && seen_count < 2; i++)
        usleep(5000);
    if (seen_count != 2 || read(0, &c, 1) != 0)
        _exit(2);
    if (open("/dev/tty", O_RDWR) != -1 || errno != ENXIO)
        _exit(3);
    if (waitpid(pid, &status, WNOHANG) != 0) /* only the leader is told */
        _exit(4);
    kill(pid, SIGHUP);
    _exit(waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 5);
}

static void hanging_up_tells_the_leader(void)
{
    struct pair p;
    pid_t pid;

    CHECK(open_pair(&p) == 0);
    pid = start_session(&p, wait_for_hang_up);
    CHECK(gives(p.master, "r"));
    close(p.master);
    CHECK(exit_status(pid) == 0);
}

static int told[2];

static void leave_a_child_behind(void)
{
    pid_t pid;

    catch_signal(SIGHUP);
    pid = fork();
    if (!pid) {
        char byte = wait_for_signal(SIGHUP) ? 'y' : 'n';
        _exit(write(told[1], &byte, 1) != 1);
    }
    if (write(0, "r", 1) != 1)
        _exit(1);
    _exit(0);
}

static void the_leaders_end_tells_the_foreground(void)
{
    struct pair p;
    char answer = 0;
    pid_t pid;

    CHECK(pipe(told) == 0 && open_pair(&p) == 0);
    pid = start_session(&p, leave_a_child_behind);
    CHECK(gives(p.master, "r") && exit_status(pid) == 0);
    CHECK(read(told[0], &answer, 1) == 1 && answer == 'y');
    close(told[0]);
    close(told[1]);
    close(p.master);
}

static void a_background_reader_stops(void)
{
    struct pair p;
    pid_t pid;

    CHECK(open_pair(&p) == 0);
    pid = fork();
    if (!pid) {
        close(p.master);
        setsid();
        ioctl(p.slave, TIOCSCTTY, 0);
        set_raw(p.slave);
        dup2(p.slave, 0);
        pid_t worker = fork();
        if (!worker) { /* SIGTTIN is not ignored here */
            char c;
            setpgid(0, 0);
            _exit(write(0, "b", 1) == 1 && read(0, &c, 1) == 1 && c == 'k' ? 0 : 2);
        }
        int status;
        signal(SIGTTOU, SIG_IGN);
        if (waitpid(worker, &status, WUNTRACED) != worker || !WIFSTOPPED(status) ||
            WSTOPSIG(status) != SIGTTIN)
            _exit(1);
        if (tcsetpgrp(0, worker) != 0 || tcgetpgrp(0) != worker)
            _exit(2);
        kill(worker, SIGCONT);
        if (write(0, "r", 1) != 1 || waitpid(worker, &status, 0) != worker || status != 0)
            _exit(3);
        _exit(tcsetpgrp(0, getpid()) == 0 ? 0 : 4);
    }
    close(p.slave);
    CHECK(gives(p.master, "br") && sends(p.master, "k"));
    CHECK(exit_status(pid) == 0);
    close(p.master);
}

static void a_program_lives_in_a_terminal(void)
{
    struct winsize w = {.ws_row = 7, .ws_col = 77};
    int master, status;
    char text[64] = "";
    pid_t pid = forkpty(&master, NULL, NULL, &w);

    if (!pid) {
        struct winsize mine;
        ioctl(0, TIOCGWINSZ, &mine);
        printf("%d%d%d %dx%d\n", isatty(0), isatty(1), isatty(2), mine.ws_row, mine.ws_col);
        fflush(stdout);
        if (scanf("%60s", text) == 1)
            printf("<%s>\n", text);
        exit(3);
    }
    CHECK(pid > 0 && gives(master, "111 7x77\r\n"));
    CHECK(sends(master, "word\r") && gives(master, "word\r\n<word>\r\n"));
    CHECK(read(master, text, sizeof text) == -1 && errno == EIO);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    close(master);
}

/* No session gets the number of a group that exists, even if its founder has left the group. */
static void a_session_needs_a_free_number(void)
{
    int status, go[2];
    char c;

    CHECK(pipe(go) == 0);
    pid_t pid = fork();
    if (!pid) {
        pid_t parents = getpgrp();
        if (setpgid(0, 0))
            _exit(1);
        pid_t child = fork();
        if (!child) {
            close(go[1]);
            _exit(read(go[0], &c, 1) == 0 ? 0 : 1);
        }
        if (setpgid(0, parents) || setsid() != -1 || errno != EPERM)
            _exit(2);
        close(go[1]);
        if (waitpid(child, &status, 0) != child || status)
            _exit(3);
        _exit(setsid() == getpid() ? 0 : 4);
    }
    close(go[1]), close(go[0]);
    CHECK(exit_status(pid) == 0);
}

int main(void)
{
    RUN(a_session_needs_a_free_number);
    RUN(a_session_has_one_terminal);
    RUN_ON_KERNEL(a_terminal_knows_its_session);
    RUN(the_first_to_open_gets_it);
    RUN(keys_size_and_master_send_signals);
    RUN(hanging_up_tells_the_leader);
    RUN(the_leaders_end_tells_the_foreground);
    RUN(a_background_reader_stops);
    RUN(a_program_lives_in_a_terminal);
    DONE();
}

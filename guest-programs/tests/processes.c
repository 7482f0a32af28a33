/* fork, exec, wait and exit: statuses, orphans, vfork, process groups, sessions. */
#include "check.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char *self;

static void fork_copies_memory(void)
{
    static volatile int value = 1;
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        value = 2;
        _exit(value + 40);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    CHECK(value == 1);
}

static void wait_reports_signals(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        raise(SIGTERM);
        _exit(0);
    }
    CHECK(wait(&status) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void wait_without_children_is_echild(void)
{
    int status;
    CHECK(wait(&status) == -1 && errno == ECHILD);
    CHECK(waitpid(12345, &status, 0) == -1 && errno == ECHILD);
}

static void wnohang_returns_zero(void)
{
    int fds[2], status;
    char c;
    CHECK(pipe(fds) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[1]);
        if (read(fds[0], &c, 1) != 0)
            _exit(1);
        _exit(0);
    }
    close(fds[0]);
    CHECK(waitpid(pid, &status, WNOHANG) == 0);
    close(fds[1]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void waitid_can_leave_the_child(void)
{
    siginfo_t info;
    pid_t pid = fork();
    if (pid == 0)
        _exit(7);
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_pid == pid && info.si_code == CLD_EXITED && info.si_status == 7);
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0);
    CHECK(info.si_pid == pid && info.si_signo == SIGCHLD);
}

static void stop_and_continue_are_reported(void)
{
    int status, fds[2];
    char c;
    CHECK(pipe(fds) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[1]);
        raise(SIGSTOP);
        _exit(read(fds[0], &c, 1) == 0 ? 3 : 4); /* an exit would hide the continuation */
    }
    CHECK(waitpid(pid, &status, WUNTRACED) == pid);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    CHECK(kill(pid, SIGCONT) == 0);
    CHECK(waitpid(pid, &status, WCONTINUED) == pid);
    CHECK(WIFCONTINUED(status));
    close(fds[1]);
    close(fds[0]);
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
}

static void exec_replaces_the_program(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = {self, "child", "two words", NULL}, *envp[] = {"COLOUR=green", NULL};
        execve(self, argv, envp);
        _exit(99);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 21);
}

static void exec_errors(void)
{
    char *argv[] = {"x", NULL};
    CHECK(execve("/nonexistent/program", argv, NULL) == -1 && errno == ENOENT);
    CHECK(execve("/", argv, NULL) == -1 && errno == EACCES);
    CHECK(execve("", argv, NULL) == -1 && errno == ENOENT);
    CHECK(execve((char *)8, argv, NULL) == -1 && errno == EFAULT);
    int fd = open("/tmp/kcovbox-not-elf", O_CREAT | O_WRONLY | O_TRUNC, 0755);
    CHECK(fd >= 0 && write(fd, "hello", 5) == 5 && close(fd) == 0);
    CHECK(execve("/tmp/kcovbox-not-elf", argv, NULL) == -1 && errno == ENOEXEC);
    CHECK(unlink("/tmp/kcovbox-not-elf") == 0);
}

static void vfork_suspends_the_parent(void)
{
    static volatile int order;
    int status;
    pid_t pid = vfork();
    if (pid == 0) {
        order = 1;
        _exit(0);
    }
    CHECK(order == 1);
    CHECK(waitpid(pid, &status, 0) == pid);
}

static void process_groups(void)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (setpgid(0, 0) || getpgrp() != getpid() || setsid() != -1 || errno != EPERM)
            _exit(1);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    pid = fork();
    if (pid == 0) {
        if (setsid() != getpid() || getsid(0) != getpid())
            _exit(1);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void cloexec_closes_on_exec(void)
{
    int status, fd = open("/dev/null", O_RDONLY | O_CLOEXEC), keep = open("/dev/null", O_RDONLY);
    char a[16], b[16];
    CHECK(fd >= 0 && keep >= 0);
    snprintf(a, sizeof(a), "%d", fd);
    snprintf(b, sizeof(b), "%d", keep);
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, "fds", a, b, NULL);
        _exit(99);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
    close(fd);
    close(keep);
}

static void many_children_one_after_another(void)
{
    for (int i = 0; i < 60; i++) {
        int status;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            _exit(i);
        CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == i);
    }
}

static void fork_bomb_ends_with_eagain(void)
{
    struct rlimit old, few = {0, 0};
    int n = 0, status, fds[2];
    char c;
    CHECK(getrlimit(RLIMIT_NPROC, &old) == 0);
    few.rlim_cur = 40;
    few.rlim_max = old.rlim_max;
    CHECK(pipe(fds) == 0);
    if (fork() == 0) {
        if (setuid(4321))
            _exit(1);
        setrlimit(RLIMIT_NPROC, &few);
        for (;; n++) {
            pid_t pid = fork();
            if (pid < 0)
                break;
            if (pid == 0) {
                close(fds[1]);
                if (read(fds[0], &c, 1))
                    _exit(1);
                _exit(0);
            }
        }
        int error = errno;
        close(fds[1]);
        while (wait(&status) > 0)
            n -= status == 0;
        _exit(error == EAGAIN && n == 0 ? 0 : 2);
    }
    close(fds[1]);
    CHECK(wait(&status) > 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(fds[0]);
}

static void group_lists_have_a_size(void)
{
    gid_t groups[64];
    CHECK(getgroups(-1, groups) == -1 && errno == EINVAL);
    CHECK(getgroups(64, groups) == getgroups(0, NULL));
}

static int child_main(int argc, char **argv)
{
    if (strcmp(argv[1], "child") == 0)
        return argc == 3 && strcmp(argv[2], "two words") == 0 && getenv("COLOUR") &&
                       strcmp(getenv("COLOUR"), "green") == 0
                   ? 21
                   : 1;
    int closed = fcntl(atoi(argv[2]), F_GETFD) == -1 && errno == EBADF;
    return closed && fcntl(atoi(argv[3]), F_GETFD) == 0 ? 5 : 1;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child_main(argc, argv);
    self = "/proc/self/exe";
    RUN(wait_without_children_is_echild);
    RUN(fork_copies_memory);
    RUN(wait_reports_signals);
    RUN(wnohang_returns_zero);
    RUN(waitid_can_leave_the_child);
    RUN(stop_and_continue_are_reported);
    RUN_ON_KERNEL(exec_replaces_the_program);
    RUN(exec_errors);
    RUN_ON_KERNEL(vfork_suspends_the_parent);
    RUN(process_groups);
    RUN(group_lists_have_a_size);
    RUN_ON_KERNEL(cloexec_closes_on_exec);
    RUN(many_children_one_after_another);
    RUN_ON_KERNEL(fork_bomb_ends_with_eagain);
    DONE();
}

/* Calls without a program of their own: openat2, execveat, process_vm_readv, unshare, membarrier...
 */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

struct how {
    uint64_t flags, mode, resolve, more;
};
enum { NO_XDEV = 1, NO_MAGICLINKS = 2, NO_SYMLINKS = 4, BENEATH = 8, IN_ROOT = 16 };

static int open2(int dir, const char *path, uint64_t flags, uint64_t resolve)
{
    struct how how = {.flags = flags, .resolve = resolve};

    return (int)syscall(437, dir, path, &how, 24);
}

/* The result of open2: 0 for a descriptor (closed again), or the error. */
static int try2(int dir, const char *path, uint64_t resolve)
{
    int fd = open2(dir, path, O_RDONLY, resolve);

    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : errno;
}

static void openat2_restricts_the_way(void)
{
    int dir;

    CHECK(mkdir("/tmp/test-r", 0700) == 0 && mkdir("/tmp/test-r/sub", 0700) == 0);
    CHECK(symlink("/sub", "/tmp/test-r/abs") == 0 && symlink("sub", "/tmp/test-r/rel") == 0);
    CHECK((dir = open("/tmp/test-r", O_RDONLY | O_DIRECTORY)) >= 0);
    CHECK(try2(dir, "sub/../rel", 0) == 0 && try2(dir, "sub/../rel", BENEATH) == 0);
    CHECK(try2(dir, "rel", NO_SYMLINKS) == ELOOP && try2(dir, "sub", NO_SYMLINKS) == 0);
    CHECK(try2(dir, "..", BENEATH) == EXDEV && try2(dir, "/tmp", BENEATH) == EXDEV);
    CHECK(try2(dir, "abs", BENEATH) == EXDEV && try2(dir, "abs", IN_ROOT) == 0);
    CHECK(try2(dir, "/sub/../../../rel", IN_ROOT) == 0 && try2(dir, "/tmp", IN_ROOT) == ENOENT);
    CHECK(try2(AT_FDCWD, "/proc/self/root", NO_MAGICLINKS) == ELOOP);
    CHECK(try2(AT_FDCWD, "/proc/self/root", NO_XDEV) == EXDEV);
    close(dir);
    unlink("/tmp/test-r/abs"), unlink("/tmp/test-r/rel"), rmdir("/tmp/test-r/sub");
    CHECK(rmdir("/tmp/test-r") == 0);
}

static void openat2_refuses_what_it_does_not_know(void)
{
    struct how how = {.flags = O_RDONLY, .mode = 0600};

    CHECK(syscall(437, AT_FDCWD, "/tmp", &how, 24) == -1 && errno == EINVAL);
    how = (struct how){.flags = O_RDONLY, .more = 1};
    CHECK(syscall(437, AT_FDCWD, "/tmp", &how, 32) == -1 && errno == E2BIG);
    CHECK(syscall(437, AT_FDCWD, "/tmp", &how, 16) == -1 && errno == EINVAL);
    CHECK(open2(AT_FDCWD, "/tmp", 1UL << 40, 0) == -1 && errno == EINVAL);
    CHECK(open2(AT_FDCWD, "/tmp", 0, 1UL << 40) == -1 && errno == EINVAL);
}

static void renames_exchange(void)
{
    struct stat a, b;
    int fd = open("/tmp/test-x", O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0 && close(fd) == 0 && mkdir("/tmp/test-y", 0700) == 0);
    CHECK(mkdir("/tmp/test-y/z", 0700) == 0);
    CHECK(renameat2(AT_FDCWD, "/tmp/test-x", AT_FDCWD, "/tmp/test-y", RENAME_EXCHANGE) == 0);
    CHECK(stat("/tmp/test-x", &a) == 0 && stat("/tmp/test-y", &b) == 0);
    CHECK(S_ISDIR(a.st_mode) && a.st_nlink == 3 && S_ISREG(b.st_mode));
    CHECK(access("/tmp/test-x/z/..", F_OK) == 0);
    CHECK(renameat2(AT_FDCWD, "/tmp/test-x", AT_FDCWD, "/tmp/none", RENAME_EXCHANGE) == -1);
    CHECK(errno == ENOENT);
    CHECK(renameat2(AT_FDCWD, "/tmp/test-y", AT_FDCWD, "/tmp/test-x", RENAME_NOREPLACE) == -1);
    CHECK(errno == EEXIST);
    CHECK(rmdir("/tmp/test-x/z") == 0 && rmdir("/tmp/test-x") == 0 && unlink("/tmp/test-y") == 0);
}

static void attributes_need_something_to_have_them(void)
{
    char buf[16];

    CHECK(getxattr("/tmp/absent", "user.a", buf, 16) == -1 && errno == ENOENT);
    CHECK(fgetxattr(-1, "user.a", buf, 16) == -1 && errno == EBADF);
    CHECK(setxattr("/tmp", "user.a", "x", 1, 77) == -1 && errno == EINVAL);
    CHECK(listxattr("/tmp/absent", buf, 16) == -1 && errno == ENOENT);
    CHECK(flistxattr(-1, buf, 16) == -1 && errno == EBADF);
}

static void processes_read_one_another(void)
{
    static char text[9000] = "before";
    char here[9000];
    struct iovec local[2] = {{here, 3}, {here + 3, 8997}}, remote = {text, 9000};
    struct iovec partly[2] = {{text, 10}, {(void *)16, 10}};
    int go[2], ready[2], status;
    char c;

    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    pid_t pid = fork();
    if (!pid) {
        strcpy(text, "child");
        close(go[1]), close(ready[1]);
        while (read(go[0], &c, 1) > 0)
            ;
        _exit(strcmp(text, "parent") ? 1 : 0);
    }
    close(ready[1]);
    CHECK(read(ready[0], &c, 1) == 0);
    CHECK(process_vm_readv(pid, local, 2, &remote, 1, 0) == 9000 && !strcmp(here, "child"));
    CHECK(process_vm_readv(pid, local, 2, partly, 2, 0) == 10);
    CHECK(process_vm_readv(pid, local, 2, partly + 1, 1, 0) == -1 && errno == EFAULT);
    strcpy(here, "parent");
    CHECK(process_vm_writev(pid, local, 2, &remote, 1, 0) == 9000 && !strcmp(text, "before"));
    close(go[0]), close(go[1]), close(ready[0]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(process_vm_readv(pid, local, 2, &remote, 1, 0) == -1 && errno == ESRCH);
}

static void protection_holds_for_other_processes(void)
{
    char *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0), byte = 'x';
    struct iovec local = {&byte, 1}, remote = {page, 1};
    pid_t pid = getpid();

    CHECK(page != MAP_FAILED);
    CHECK(process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1 && byte == 0);
    CHECK(process_vm_writev(pid, &local, 1, &remote, 1, 0) == -1 && errno == EFAULT);
    CHECK(mprotect(page, 4096, PROT_NONE) == 0);
    CHECK(process_vm_readv(pid, &local, 1, &remote, 1, 0) == -1 && errno == EFAULT);
    munmap(page, 4096);
}

/* The pages of shared memory that nobody touches cost time, too. */
static void shared_memory_is_smaller_than_memory(void)
{
    int flags = MAP_SHARED | MAP_ANONYMOUS;
    char *pages = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, flags, -1, 0);

    CHECK(pages != MAP_FAILED && munmap(pages, 8 << 20) == 0);
    CHECK(mmap(NULL, 1UL << 36, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == ENOMEM);
    CHECK(mmap(NULL, 1UL << 33, PROT_READ, flags, -1, 0) == MAP_FAILED && errno == ENOMEM);
}

static void execveat_runs_descriptors(void)
{
    char *argv[] = {"calls", "exit", NULL}, *env[] = {NULL};
    int fd = open("/proc/self/exe", O_RDONLY), mem = memfd_create("program", MFD_CLOEXEC), status;
    static char buf[65536];
    ssize_t n;

    while ((n = read(fd, buf, sizeof(buf))) > 0)
        CHECK(write(mem, buf, (size_t)n) == n);
    int which[] = {fd, mem};
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (!pid) {
            syscall(SYS_execveat, which[i], "", argv, env, AT_EMPTY_PATH);
            _exit(1);
        }
        CHECK(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 33);
    }
    CHECK(syscall(SYS_execveat, fd, "", argv, env, 0) == -1 && errno == ENOENT);
    CHECK(syscall(SYS_execveat, -1, "x", argv, env, 0) == -1 && errno == EBADF);
    close(fd), close(mem);
}

static void close_range_closes_and_marks(void)
{
    int a = dup(1), b = dup(1), c = dup(1);

    CHECK(a >= 0 && b > a && c > b && close_range(b, c, CLOSE_RANGE_CLOEXEC) == 0);
    CHECK(fcntl(a, F_GETFD) == 0 && fcntl(b, F_GETFD) == FD_CLOEXEC);
    CHECK(close_range(b, ~0u, 0) == 0 && fcntl(b, F_GETFD) == -1 && fcntl(a, F_GETFD) == 0);
    CHECK(close_range(5, 4, 0) == -1 && errno == EINVAL);
    close(a);
}

static int leave_table(void *fd)
{
    return unshare(CLONE_FILES | CLONE_FS) || close(*(int *)fd) || chdir("/");
}

static void unshare_makes_it_our_own(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    char before[256], after[256];
    int fd = dup(1), status;

    CHECK(unshare(0) == 0 && unshare(0x40) == -1 && errno == EINVAL);
    CHECK(chdir("/tmp") == 0 && getcwd(before, sizeof(before)));
    pid_t pid = clone(leave_table, stack + sizeof(stack), CLONE_FILES | CLONE_FS | SIGCHLD, &fd);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(fcntl(fd, F_GETFD) == 0 && getcwd(after, sizeof(after)) && !strcmp(before, after));
    close(fd);
}

static void membarrier_reaches_all(void)
{
    long all = syscall(SYS_membarrier, 0, 0, 0);

    CHECK(all > 0 && all & 1 && syscall(SYS_membarrier, 1, 0, 0) == 0);
    CHECK(syscall(SYS_membarrier, 16, 0, 0) == 0 && syscall(SYS_membarrier, 8, 0, 0) == 0);
    CHECK(syscall(SYS_membarrier, 1 << 20, 0, 0) == -1 && errno == EINVAL);
}

static void affinity_is_per_thread(void)
{
    cpu_set_t set, got;

    CHECK(sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) >= 1);
    CPU_ZERO(&got);
    CHECK(sched_setaffinity(0, sizeof(got), &got) == -1 && errno == EINVAL);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            CPU_SET(i, &got);
            break;
        }
    CHECK(sched_setaffinity(0, sizeof(got), &got) == 0);
    CHECK(sched_getaffinity(0, sizeof(got), &got) == 0 && CPU_COUNT(&got) == 1);
    CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
    CHECK(sched_getaffinity(999999, sizeof(got), &got) == -1 && errno == ESRCH);
    struct timespec ts;
    CHECK(sched_rr_get_interval(0, &ts) == 0 && ts.tv_sec == 0);
}

static void messages_come_in_numbers(void)
{
    char text[3][8] = {"one", "two", "three"}, got[4][8] = {0};
    struct iovec out[3], in[4];
    struct mmsghdr send[3] = {0}, receive[4] = {0};
    int s[2];

    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
    for (int i = 0; i < 3; i++) {
        out[i] = (struct iovec){text[i], strlen(text[i])};
        send[i].msg_hdr = (struct msghdr){.msg_iov = &out[i], .msg_iovlen = 1};
    }
    for (int i = 0; i < 4; i++) {
        in[i] = (struct iovec){got[i], 8};
        receive[i].msg_hdr = (struct msghdr){.msg_iov = &in[i], .msg_iovlen = 1};
    }
    CHECK(sendmmsg(s[0], send, 3, 0) == 3 && send[2].msg_len == 5);
    CHECK(recvmmsg(s[1], receive, 4, MSG_WAITFORONE, NULL) == 3);
    CHECK(!strcmp(got[0], "one") && !strcmp(got[2], "three") && receive[1].msg_len == 3);
    CHECK(recvmmsg(s[1], receive, 4, MSG_DONTWAIT, NULL) == -1 && errno == EAGAIN);
    close(s[0]), close(s[1]);
}

static void access_asks_for_the_real_user(void)
{
    int fd = open("/tmp/test-a", O_WRONLY | O_CREAT, 0600), status;

    CHECK(fd >= 0 && close(fd) == 0 && getuid() == 0);
    pid_t pid = fork();
    if (!pid) {
        if (setresuid(1000, 0, 0))
            _exit(9);
        int real = syscall(SYS_faccessat, AT_FDCWD, "/tmp/test-a", R_OK) == -1 && errno == EACCES;
        int effective = syscall(439, AT_FDCWD, "/tmp/test-a", R_OK, AT_EACCESS) == 0;
        _exit(real && effective ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0 && unlink("/tmp/test-a") == 0);
}

static void unknown_calls_are_enosys(void)
{
    CHECK(syscall(2000) == -1 && errno == ENOSYS);
    CHECK(syscall(511) == -1 && errno == ENOSYS);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "exit"))
        return 33;
    RUN_ON_KERNEL(openat2_restricts_the_way);
    RUN_ON_KERNEL(openat2_refuses_what_it_does_not_know);
    RUN(renames_exchange);
    RUN(attributes_need_something_to_have_them);
    RUN_ON_KERNEL(processes_read_one_another);
    RUN_ON_KERNEL(protection_holds_for_other_processes);
    RUN_ON_KERNEL(shared_memory_is_smaller_than_memory);
    RUN_ON_KERNEL(execveat_runs_descriptors);
    RUN(close_range_closes_and_marks);
    RUN_ON_KERNEL(unshare_makes_it_our_own);
    RUN(membarrier_reaches_all);
    RUN(affinity_is_per_thread);
    RUN(messages_come_in_numbers);
    if (getuid())
        printf("ok access_asks_for_the_real_user # skipped: needs root\n");
    else
        RUN(access_asks_for_the_real_user);
    RUN(unknown_calls_are_enosys);
    DONE();
}

/* Memory: mmap in its forms, protection, copy on write, brk, mremap, madvise, user pointers. */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PAGE 4096UL
#define RW   (PROT_READ | PROT_WRITE)

static sigjmp_buf jump;
static volatile int caught;

static void on_fault(int sig)
{
    caught = sig;
    siglongjmp(jump, 1);
}

static int fault_of(volatile char *p, int write)
{
    caught = 0;
    if (!sigsetjmp(jump, 1)) {
        if (write)
            *p = 1;
        else
            (void)*p;
    }
    return caught;
}

static char *map(size_t len, int prot, int flags)
{
    return mmap(NULL, len, prot, flags | MAP_ANONYMOUS, -1, 0);
}

static void anonymous_memory_is_zero(void)
{
    unsigned char *p = (unsigned char *)map(64 * PAGE, RW, MAP_PRIVATE);
    CHECK(p != MAP_FAILED);
    for (size_t i = 0; i < 64 * PAGE; i += 511)
        CHECK(p[i] == 0);
    memset(p, 0xab, 64 * PAGE);
    CHECK(p[64 * PAGE - 1] == 0xab);
    CHECK(munmap(p, 64 * PAGE) == 0);
    CHECK(fault_of((char *)p, 0) == SIGSEGV);
}

static void unmapping_the_middle_leaves_the_ends(void)
{
    char *p = map(3 * PAGE, RW, MAP_PRIVATE);
    p[0] = 1, p[2 * PAGE] = 3;
    CHECK(munmap(p + PAGE, PAGE) == 0);
    CHECK(p[0] == 1 && p[2 * PAGE] == 3 && fault_of(p + PAGE, 0) == SIGSEGV);
    CHECK(munmap(p, 3 * PAGE) == 0);
}

static void protection_is_enforced_and_changed(void)
{
    char *p = map(2 * PAGE, RW, MAP_PRIVATE);
    p[0] = 'a';
    CHECK(mprotect(p, PAGE, PROT_READ) == 0 && p[0] == 'a');
    CHECK(fault_of(p, 1) == SIGSEGV);
    CHECK(mprotect(p, PAGE, PROT_NONE) == 0 && fault_of(p, 0) == SIGSEGV);
    CHECK(mprotect(p, PAGE, RW) == 0 && p[0] == 'a');
    CHECK(fault_of(p, 1) == 0);
    CHECK(munmap(p, 2 * PAGE) == 0);
    CHECK(mprotect(p, PAGE, RW) == -1 && errno == ENOMEM);
    CHECK(mprotect(p + 1, PAGE, RW) == -1 && errno == EINVAL);
    CHECK(mprotect(p, ~0UL, RW) == -1 && errno == ENOMEM);
}

static void fork_copies_private_and_shares_shared(void)
{
    char *priv = map(PAGE, RW, MAP_PRIVATE), *shared = map(PAGE, RW, MAP_SHARED);
    int status;
    priv[0] = 1, shared[0] = 1;
    pid_t pid = fork();
    if (pid == 0) {
        priv[0] = 2, shared[0] = 2;
        _exit(priv[0] == 2 ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(priv[0] == 1 && shared[0] == 2);
    munmap(priv, PAGE);
    munmap(shared, PAGE);
}

static void file_mappings(void)
{
    char buf[16];
    int fd = open("/tmp/kcovbox-map", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, "0123456789", 10) == 10);
    char *shared = mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0);
    char *priv = mmap(NULL, PAGE, RW, MAP_PRIVATE, fd, 0);
    CHECK(shared != MAP_FAILED && priv != MAP_FAILED);
    CHECK(memcmp(shared, "0123456789", 11) == 0);
    priv[0] = 'P';
    shared[1] = 'S';
    CHECK(shared[0] == '0' && pread(fd, buf, 10, 0) == 10 && memcmp(buf, "0S23456789", 10) == 0);
    char *past = mmap(NULL, 3 * PAGE, RW, MAP_SHARED, fd, 0);
    CHECK(past != MAP_FAILED && fault_of(past + 2 * PAGE, 0) == SIGBUS);
    munmap(past, 3 * PAGE);
    munmap(shared, PAGE);
    munmap(priv, PAGE);
    close(fd);
    fd = open("/tmp/kcovbox-map", O_RDONLY);
    CHECK(mmap(NULL, PAGE, RW, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
    CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 1) == MAP_FAILED && errno == EINVAL);
    close(fd);
    unlink("/tmp/kcovbox-map");
}

static void wrong_hints_are_ignored(void)
{
    char *p = mmap((void *)-PAGE, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && (long)p > 0 && munmap(p, 2 * PAGE) == 0);
}

static void fixed_mappings_replace(void)
{
    char *p = map(3 * PAGE, RW, MAP_PRIVATE);
    p[PAGE] = 9;
    CHECK(mmap(p + PAGE, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + PAGE);
    CHECK(p[PAGE] == 0);
    CHECK(mmap(p, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
              MAP_FAILED &&
          errno == EEXIST);
    munmap(p, 3 * PAGE);
}

static void mmap_argument_errors(void)
{
    CHECK(mmap(NULL, 0, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
    CHECK(mmap(NULL, PAGE, RW, MAP_PRIVATE, 77, 0) == MAP_FAILED && errno == EBADF);
    CHECK(mmap(NULL, 1UL << 50, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
          errno == ENOMEM);
    CHECK(munmap((void *)1, PAGE) == -1 && errno == EINVAL);
}

static void brk_moves(void)
{
    char *start = sbrk(0);
    CHECK(sbrk(5 * PAGE) == start);
    start[0] = 1, start[5 * PAGE - 1] = 2;
    CHECK(sbrk(-(long)(5 * PAGE)) == start + 5 * PAGE && sbrk(0) == start);
}

static void mremap_grows_and_moves(void)
{
    char *p = map(2 * PAGE, RW, MAP_PRIVATE);
    p[0] = 5, p[PAGE] = 6;
    char *q = mremap(p, 2 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
    CHECK(q != MAP_FAILED && q[0] == 5 && q[PAGE] == 6 && q[39 * PAGE] == 0);
    char *r = mremap(q, 40 * PAGE, PAGE, 0);
    CHECK(r == q && r[0] == 5 && fault_of(q + PAGE, 0) == SIGSEGV);
    munmap(q, PAGE);
}

static void madvise_dontneed_gives_zeros(void)
{
    char *p = map(2 * PAGE, RW, MAP_PRIVATE);
    p[0] = 1, p[PAGE] = 2;
    CHECK(madvise(p, PAGE, MADV_DONTNEED) == 0 && p[0] == 0 && p[PAGE] == 2);
    munmap(p, 2 * PAGE);
}

static void hostile_pointers_are_efault(void)
{
    char *hole = map(2 * PAGE, RW, MAP_PRIVATE);
    int fds[2];
    CHECK(pipe(fds) == 0 && munmap(hole + PAGE, PAGE) == 0);
    unsigned long bad[] = {0,
                           8,
                           0x3fffffffffUL,
                           0x4000000000UL,
                           ~0UL - 100,
                           0xffffffff80200000UL,
                           0x8000000000000000UL};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        CHECK(write(fds[1], (void *)bad[i], 10) == -1 && errno == EFAULT);
        CHECK(syscall(SYS_getrandom, bad[i], 64, 0) == -1 && errno == EFAULT);
        CHECK(open((char *)bad[i], O_RDONLY) == -1 && errno == EFAULT);
    }
    memset(hole, 'x', PAGE);
    CHECK(open(hole, O_RDONLY) == -1 && (errno == EFAULT || errno == ENAMETOOLONG));
    CHECK(write(fds[1], hole + PAGE - 4, 100) == 4 || errno == EFAULT);
    close(fds[0]);
    close(fds[1]);
    munmap(hole, PAGE);
}

static void address_space_limit(void)
{
    struct rlimit old, small;
    CHECK(getrlimit(RLIMIT_AS, &old) == 0);
    small = old;
    small.rlim_cur = 512UL << 20;
    if (fork() == 0) {
        setrlimit(RLIMIT_AS, &small);
        char *p = map(1UL << 30, RW, MAP_PRIVATE);
        _exit(p == MAP_FAILED && errno == ENOMEM ? 0 : 1);
    }
    int status;
    CHECK(wait(&status) > 0 && status == 0);
}

int main(void)
{
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    RUN(anonymous_memory_is_zero);
    RUN(unmapping_the_middle_leaves_the_ends);
    RUN(protection_is_enforced_and_changed);
    RUN(fork_copies_private_and_shares_shared);
    RUN(file_mappings);
    RUN_ON_KERNEL(wrong_hints_are_ignored);
    RUN_ON_KERNEL(fixed_mappings_replace);
    RUN(mmap_argument_errors);
    RUN(brk_moves);
    RUN(mremap_grows_and_moves);
    RUN(madvise_dontneed_gives_zeros);
    RUN(hostile_pointers_are_efault);
    RUN_ON_KERNEL(address_space_limit);
    DONE();
}

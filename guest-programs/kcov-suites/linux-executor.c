/*
 * Uses Linux's kcov like a fuzzer's executor: descriptors moved to high numbers with dup2, one per
 * thread, areas mapped once, coverage enabled by the thread it belongs to, reset and collected
 * around every call, remote coverage by handles, addresses checked and hashed to a signal. Written
 * from the published behaviour of such programs; only system headers.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long uint64;
typedef unsigned int uint32;

#define KCOV_INIT_TRACE32  _IOR('c', 1, uint32)
#define KCOV_INIT_TRACE64  _IOR('c', 1, uint64)
#define KCOV_ENABLE        _IO('c', 100)
#define KCOV_DISABLE       _IO('c', 101)
#define KCOV_REMOTE_ENABLE _IOW('c', 102, kcov_remote_arg)
#define KCOV_RESET_TRACE   _IO('c', 104)

typedef struct {
    uint32 trace_mode;
    uint32 area_size;
    uint32 num_handles;
    uint64 common_handle;
    uint64 handles[0];
} kcov_remote_arg;

#define KCOV_TRACE_PC         0
#define KCOV_TRACE_CMP        1
#define KCOV_SUBSYSTEM_COMMON (0x00ull << 56)
#define KCOV_SUBSYSTEM_USB    (0x01ull << 56)
#define KCOV_SUBSYSTEM_MASK   (0xffull << 56)
#define KCOV_INSTANCE_MASK    (0xffffffffull)

enum { first_fd = 200, threads_max = 4, cover_size = 512 << 10, extra_cover_size = 1024 << 10 };

typedef struct {
    int fd;
    uint32 size;
    char *data, *data_end;
    uint32 mmap_size;
} cover_t;

typedef struct {
    int id;
    pthread_t th;
    cover_t cov;
    uint32 signal;
    int collected;
} thread_t;

static thread_t threads[threads_max];
static cover_t extra;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int e = errno;
    vprintf(fmt, ap);
    printf(" (errno %d)\n", e);
    fflush(stdout);
    _exit(67);
}

static uint64 kcov_remote_handle(uint64 subsys, uint64 inst)
{
    if (subsys & ~KCOV_SUBSYSTEM_MASK || inst & ~KCOV_INSTANCE_MASK)
        return 0;
    return subsys | inst;
}

static void cover_open(cover_t *cov, int index, bool is_extra)
{
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        fail("open of /sys/kernel/debug/kcov failed");
    cov->fd = first_fd + index;
    if (dup2(fd, cov->fd) < 0)
        fail("filed to dup2(%d, %d) cover fd", fd, cov->fd);
    close(fd);
    const uint32 words = is_extra ? extra_cover_size : cover_size;
    if (ioctl(cov->fd, KCOV_INIT_TRACE64, words))
        fail("cover init trace write failed");
    cov->mmap_size = words * sizeof(uint64);
}

/* Guard pages around the area show writes outside. */
static void cover_mmap(cover_t *cov)
{
    const size_t guard = 4096;
    char *p = mmap(NULL, cov->mmap_size + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);

    if (p == MAP_FAILED)
        fail("failed to reserve the cover area");
    cov->data =
        mmap(p + guard, cov->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, cov->fd, 0);
    if (cov->data == MAP_FAILED)
        fail("cover mmap failed");
    cov->data_end = cov->data + cov->mmap_size;
}

static void cover_enable(cover_t *cov, bool collect_comps, bool is_extra)
{
    uint32 mode = collect_comps ? KCOV_TRACE_CMP : KCOV_TRACE_PC;
    union {
        kcov_remote_arg arg;
        uint64 space[4];
    } u;

    if (!is_extra) {
        if (ioctl(cov->fd, KCOV_ENABLE, mode))
            fail("cover enable write trace failed, mode=%d", mode);
        return;
    }
    memset(&u, 0, sizeof(u));
    u.arg.trace_mode = mode;
    u.arg.area_size = cover_size;
    u.arg.num_handles = 1;
    u.space[3] = kcov_remote_handle(KCOV_SUBSYSTEM_USB, 1);
    u.arg.common_handle = kcov_remote_handle(KCOV_SUBSYSTEM_COMMON, 1 + getpid());
    if (ioctl(cov->fd, KCOV_REMOTE_ENABLE, &u.arg))
        fail("remote cover enable write trace failed");
}

static void cover_reset(cover_t *cov)
{
    *(volatile uint64 *)cov->data = 0;
}

static void cover_collect(cover_t *cov)
{
    cov->size = *(volatile uint64 *)cov->data;
    if (cov->size > cov->mmap_size / sizeof(uint64) - 1)
        fail("too much cover %u", cov->size);
}

/* Text of a riscv64 kernel. */
static bool is_kernel_pc(uint64 pc)
{
    return pc >= 0xffffffff00000000ull;
}

static uint32 hash(uint32 a)
{
    a = (a ^ 61) ^ (a >> 16);
    a = a + (a << 3);
    a = a ^ (a >> 4);
    a = a * 0x27d4eb2d;
    return a ^ (a >> 15);
}

static uint32 write_signal(const cover_t *cov)
{
    const uint64 *pcs = (const uint64 *)cov->data + 1;
    uint32 prev = 0, sig = 0;

    for (uint32 i = 0; i < cov->size; i++) {
        if (!is_kernel_pc(pcs[i]))
            fail("got bad pc: 0x%llx", pcs[i]);
        sig ^= pcs[i] ^ (prev & 0xfff);
        prev = hash((uint32)pcs[i]);
    }
    return sig;
}

static void execute_call(int which)
{
    struct stat st;

    switch (which % 4) {
    case 0:
        syscall(SYS_getppid);
        break;
    case 1:
        syscall(SYS_read, -1, NULL, 0);
        break;
    case 2:
        stat("/proc/self", &st);
        break;
    case 3:
        syscall(SYS_ioctl, -1, 0, 0);
        break;
    }
}

static void *worker_thread(void *arg)
{
    thread_t *th = arg;

    cover_enable(&th->cov, false, false);
    for (int i = 0; i < 20; i++) {
        cover_reset(&th->cov);
        execute_call(th->id + i);
        cover_collect(&th->cov);
        if (th->cov.size == 0)
            fail("thread %d call %d: no coverage", th->id, i);
        th->signal = write_signal(&th->cov);
        th->collected++;
    }
    return NULL;
}

/* Edges that another run collected as comparisons. */
static void collect_comparisons(cover_t *cov)
{
    cover_enable(cov, true, false);
    cover_reset(cov);
    syscall(SYS_ioctl, 0, 0xdeadbeef, 0);
    cover_collect(cov);
    const uint64 *rec = (const uint64 *)cov->data + 1;
    bool seen = false;
    for (uint32 i = 0; i < cov->size; i++, rec += 4) {
        if (rec[0] > 7)
            fail("invalid kcov comp type %llx", rec[0]);
        if (!is_kernel_pc(rec[3]))
            fail("got bad comp pc 0x%llx", rec[3]);
        seen |= (rec[1] == 0xdeadbeef || rec[2] == 0xdeadbeef);
    }
    if (ioctl(cov->fd, KCOV_DISABLE, 0))
        fail("disable failed");
    printf("comparisons: %s\n", seen ? "the command was compared" : "not seen");
}

/* A program as the executor's child runs it: no descriptor is enabled twice. */
static int run_program(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (int i = 0; i < threads_max; i++)
        if (pthread_create(&threads[i].th, NULL, worker_thread, &threads[i]))
            fail("pthread_create failed");
    for (int i = 0; i < threads_max; i++)
        pthread_join(threads[i].th, NULL);
    for (int i = 0; i < threads_max; i++)
        if (threads[i].collected != 20)
            fail("thread %d collected %d", i, threads[i].collected);
    /* The threads are gone, so the descriptors are ready again. */
    collect_comparisons(&threads[0].cov);
    cover_enable(&extra, false, true);
    cover_reset(&extra);
    execute_call(1);
    cover_collect(&extra);
    printf("own calls in the remote area: %u\n", extra.size);
    if (ioctl(extra.fd, KCOV_DISABLE, 0))
        fail("disable of the remote failed");
    return 0;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < threads_max; i++) {
        threads[i].id = i;
        cover_open(&threads[i].cov, i, false);
        cover_mmap(&threads[i].cov);
    }
    cover_open(&extra, threads_max, true);
    cover_mmap(&extra);
    if (ioctl(threads[0].cov.fd, KCOV_RESET_TRACE, 0) == 0 || errno != ENOTTY)
        fail("a command of another series is not unknown");
    for (int round = 0; round < 3; round++) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(run_program());
        if (waitpid(pid, &status, 0) != pid || status != 0)
            fail("round %d ended with 0x%x", round, status);
    }
    printf("ok executor\n");
    return 0;
}

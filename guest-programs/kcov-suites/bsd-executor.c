/*
 * Uses kcov of the three BSDs like a fuzzer's executor: one source, with the compiler's macros for
 * the system; descriptors at high numbers, areas inside guard pages and protected against the
 * program under test, one descriptor per thread. Written from the published behaviour of executors.
 */
#include <sys/param.h>
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#error the compiler of a BSD does not say this
#elif defined(__FreeBSD__)
#define KIOENABLE           _IOWINT('c', 2)
#define KIODISABLE          _IO('c', 3)
#define KIOSETBUFSIZE       _IOWINT('c', 4)
#define KCOV_MODE_TRACE_PC  0
#define KCOV_MODE_TRACE_CMP 1
#if __FreeBSD_version < 1200000
#error too old
#endif
#elif defined(__OpenBSD__)
#define KIOSETBUFSIZE       _IOW('K', 1, unsigned long)
#define KIOENABLE           _IOW('K', 2, int)
#define KIODISABLE          _IO('K', 3)
#define KIOREMOTEATTACH     _IOW('K', 4, struct kio_remote_attach)
#define KCOV_MODE_TRACE_PC  1
#define KCOV_MODE_TRACE_CMP 2
struct kio_remote_attach {
    int subsystem;
    int id;
};
#elif defined(__NetBSD__)
#define KIOSETBUFSIZE       _IOW('K', 1, uint64_t)
#define KIOENABLE           _IOW('K', 2, int)
#define KIODISABLE          _IO('K', 3)
#define KCOV_MODE_TRACE_PC  1
#define KCOV_MODE_TRACE_CMP 2
#if !__NetBSD_Prereq__(9, 0, 0)
#error too old
#endif
#endif

enum { FIRST_FD = 200, THREADS = 3, COVER_WORDS = 256 << 10 };

typedef struct {
    int fd;
    size_t size;
    char *data;
} cover_t;

static cover_t covers[THREADS];

static void fail(const char *what)
{
    printf("%s: errno %d\n", what, errno);
    fflush(stdout);
    _exit(67);
}

static void cover_open(cover_t *cov, int index)
{
    int fd = open("/dev/kcov", O_RDWR);

    if (fd == -1)
        fail("open of /dev/kcov");
    if (dup2(fd, FIRST_FD + index) < 0)
        fail("dup2");
    close(fd);
    cov->fd = FIRST_FD + index;
#if defined(__FreeBSD__)
    if (ioctl(cov->fd, KIOSETBUFSIZE, COVER_WORDS))
#elif defined(__NetBSD__)
    uint64_t words = COVER_WORDS;
    if (ioctl(cov->fd, KIOSETBUFSIZE, &words))
#else
    unsigned long words = COVER_WORDS;
    if (ioctl(cov->fd, KIOSETBUFSIZE, &words))
#endif
        fail("ioctl init trace");
    cov->size = COVER_WORDS * sizeof(uint64_t);
    char *hole = mmap(NULL, cov->size + 2 * PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (hole == MAP_FAILED)
        fail("mmap of guards");
    cov->data = mmap(hole + PAGE_SIZE, cov->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     cov->fd, 0);
    if (cov->data == MAP_FAILED)
        fail("cover mmap");
}

/* The first page holds the count, which the executor itself must reset. */
static void cover_protect(cover_t *cov)
{
    if (mprotect(cov->data + PAGE_SIZE, cov->size - PAGE_SIZE, PROT_READ))
        fail("mprotect");
}

static void cover_unprotect(cover_t *cov)
{
    if (mprotect(cov->data, cov->size, PROT_READ | PROT_WRITE))
        fail("mprotect back");
}

static void cover_enable(cover_t *cov, int mode)
{
#if defined(__FreeBSD__)
    if (ioctl(cov->fd, KIOENABLE, mode))
#else
    if (ioctl(cov->fd, KIOENABLE, &mode))
#endif
        fail("ioctl enable");
}

static uint64_t cover_collect(const cover_t *cov)
{
    uint64_t n = *(const volatile uint64_t *)cov->data;

    if (n > COVER_WORDS - 1)
        fail("too much cover");
    for (uint64_t i = 1; i <= n; i++)
        if (((const uint64_t *)cov->data)[i] < 0xffffffff00000000ull)
            fail("bad pc");
    return n;
}

static void *worker(void *arg)
{
    cover_t *cov = arg;

    cover_enable(cov, KCOV_MODE_TRACE_PC);
    cover_protect(cov);
    for (int i = 0; i < 30; i++) {
        *(volatile uint64_t *)cov->data = 0;
        (void)!read(-1, NULL, 0);
        (void)getppid();
        if (cover_collect(cov) == 0)
            fail("no coverage");
    }
    cover_unprotect(cov);
    return NULL;
}

static int run_program(void)
{
    pthread_t th[THREADS];

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&th[i], NULL, worker, &covers[i]))
            fail("pthread_create");
    for (int i = 0; i < THREADS; i++)
        pthread_join(th[i], NULL);
    /* Their owners are gone: one thread can take each in turn. */
    for (int i = 0; i < THREADS; i++) {
        cover_enable(&covers[i], KCOV_MODE_TRACE_CMP);
        if (ioctl(covers[i].fd, KIODISABLE, 0))
            fail("ioctl disable");
    }
    return 0;
}

int main(void)
{
    struct rlimit rlim = {.rlim_cur = 256, .rlim_max = 256};

    setrlimit(RLIMIT_NOFILE, &rlim);
    for (int i = 0; i < THREADS; i++)
        cover_open(&covers[i], i);
    for (int round = 0; round < 3; round++) {
        int status;
        pid_t pid = fork();

        if (pid == 0)
            _exit(run_program());
        if (waitpid(pid, &status, 0) != pid || status != 0)
            fail("a round failed");
    }
    printf("ok executor\n");
    return 0;
}

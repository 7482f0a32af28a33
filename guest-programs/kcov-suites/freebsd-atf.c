/*
 * Checks of FreeBSD's kcov(4) as test cases of ATF, in that system's manner: arguments by value,
 * C11 atomics and machine/atomic.h, semaphores, the limit in a sysctl. Only system headers.
 */
#include <sys/param.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/wait.h>

#include <machine/atomic.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pthread_np.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atf-c.h>

#include "freebsd_test_suite/macros.h"

__FBSDID("$FreeBSD$");

static const int modes[] = {KCOV_MODE_TRACE_PC, KCOV_MODE_TRACE_CMP};
static const size_t pages = 4;

static void need_root(atf_tc_t *tc)
{
    atf_tc_set_md_var(tc, "require.user", "root");
    atf_tc_set_md_var(tc, "timeout", "%d", 60);
}

static int open_kcov(void)
{
    int fd = open("/dev/kcov", O_RDWR);

    if (fd == -1)
        atf_tc_skip("no /dev/kcov: %s", strerror(errno));
    return (fd);
}

static int ready_kcov(size_t size)
{
    int fd = open_kcov();

    ATF_REQUIRE_EQ_MSG(0, ioctl(fd, KIOSETBUFSIZE, size / KCOV_ENTRY_SIZE), "%s", strerror(errno));
    return (fd);
}

static uint64_t *map_kcov(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    ATF_REQUIRE_MSG(p != MAP_FAILED, "mmap: %s", strerror(errno));
    return (p);
}

static void work(void)
{
    struct stat sb;

    (void)getppid();
    ATF_CHECK_ERRNO(EBADF, fstat(-1, &sb) == -1);
}

ATF_TC_WITHOUT_HEAD(size);
ATF_TC_BODY(size, tc)
{
    int fd = open_kcov();

    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOSETBUFSIZE, 0) == -1);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOSETBUFSIZE, 1) == -1);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOSETBUFSIZE, KCOV_MAXENTRIES + 1) == -1);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOSETBUFSIZE, -1) == -1);
    ATF_CHECK(ioctl(fd, KIOSETBUFSIZE, 2) == 0);
    ATF_CHECK_ERRNO(EBUSY, ioctl(fd, KIOSETBUFSIZE, 2) == -1);
    ATF_CHECK(close(fd) == 0);
}

ATF_TC(limit);
ATF_TC_HEAD(limit, tc)
{
    need_root(tc);
}
ATF_TC_BODY(limit, tc)
{
    unsigned int before, now = 1024;
    size_t len = sizeof(before);
    int fd = open_kcov();

    if (sysctlbyname("kern.kcov.max_entries", &before, &len, &now, sizeof(now)) == -1)
        atf_tc_fail("sysctlbyname: %s", strerror(errno));
    ATF_CHECK_EQ(len, sizeof(before));
    ATF_CHECK_EQ(before, KCOV_MAXENTRIES);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOSETBUFSIZE, 1025) == -1);
    ATF_CHECK(ioctl(fd, KIOSETBUFSIZE, 1024) == 0);
    ATF_REQUIRE(sysctlbyname("kern.kcov.max_entries", NULL, NULL, &before, sizeof(before)) == 0);
    /* A knob of root's: others read it. */
    pid_t pid = fork();
    if (pid == 0) {
        bool reads =
            setuid(1000) == 0 && sysctlbyname("kern.kcov.max_entries", &now, &len, NULL, 0) == 0;
        _exit(!reads || now != before ||
              sysctlbyname("kern.kcov.max_entries", NULL, NULL, &before, sizeof(before)) != -1 ||
              errno != EPERM);
    }
    int status;
    ATF_REQUIRE(waitpid(pid, &status, 0) == pid && status == 0);
    close(fd);
}

ATF_TC_WITHOUT_HEAD(mapping);
ATF_TC_BODY(mapping, tc)
{
    const size_t size = pages * PAGE_SIZE;
    uint64_t *one, *two;
    int fd = open_kcov();

    ATF_CHECK_ERRNO(EINVAL,
                    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    close(fd);
    fd = ready_kcov(size);
    ATF_CHECK_ERRNO(EINVAL, mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
    ATF_CHECK_ERRNO(EINVAL, mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd,
                                 0) == MAP_FAILED);
    ATF_CHECK_ERRNO(EINVAL, mmap(NULL, size - PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                 0) == MAP_FAILED);
    ATF_CHECK_ERRNO(EINVAL, mmap(NULL, size + PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                                 0) == MAP_FAILED);
    one = map_kcov(fd, size);
    two = map_kcov(fd, size);
    ATF_REQUIRE(one != two);
    atomic_store_64(&one[100], 42);
    ATF_CHECK_EQ(atomic_load_64(&two[100]), 42);
    close(fd);
    atomic_store_64(&one[101], 43);
    ATF_CHECK_EQ(atomic_load_64(&two[101]), 43);
    ATF_CHECK(munmap(one, size) == 0);
    ATF_CHECK(munmap(two, size) == 0);
}

ATF_TC_WITHOUT_HEAD(enable);
ATF_TC_BODY(enable, tc)
{
    int fd = open_kcov(), other;

    ATF_CHECK_ERRNO(EBUSY, ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == -1);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIODISABLE, 0) == -1);
    ATF_REQUIRE(ioctl(fd, KIOSETBUFSIZE, PAGE_SIZE / KCOV_ENTRY_SIZE) == 0);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOENABLE, -1) == -1);
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIOENABLE, 2) == -1);
    for (size_t i = 0; i < nitems(modes); i++) {
        ATF_CHECK(ioctl(fd, KIOENABLE, modes[i]) == 0);
        ATF_CHECK_ERRNO(EBUSY, ioctl(fd, KIOENABLE, modes[i]) == -1);
        other = ready_kcov(PAGE_SIZE);
        ATF_CHECK_ERRNO(EINVAL, ioctl(other, KIOENABLE, modes[i]) == -1);
        close(other);
        ATF_CHECK(ioctl(fd, KIODISABLE, 0) == 0);
        ATF_CHECK_ERRNO(EINVAL, ioctl(fd, KIODISABLE, 0) == -1);
    }
    ATF_CHECK_ERRNO(EINVAL, ioctl(fd, _IO('c', 200)) == -1);
    close(fd);
}

ATF_TC_WITHOUT_HEAD(contents);
ATF_TC_BODY(contents, tc)
{
    const size_t size = pages * PAGE_SIZE;

    for (size_t i = 0; i < nitems(modes); i++) {
        int fd = ready_kcov(size);
        _Atomic uint64_t *area = (_Atomic uint64_t *)map_kcov(fd, size);
        uint64_t n;

        ATF_REQUIRE(ioctl(fd, KIOENABLE, modes[i]) == 0);
        atomic_store_explicit(area, 0, memory_order_relaxed);
        work();
        n = atomic_load_explicit(area, memory_order_relaxed);
        ATF_REQUIRE(ioctl(fd, KIODISABLE, 0) == 0);
        ATF_REQUIRE_MSG(n > 0, "mode %d: nothing recorded", modes[i]);
        work();
        if (modes[i] == KCOV_MODE_TRACE_PC) {
            ATF_REQUIRE(n <= size / KCOV_ENTRY_SIZE - 1);
            for (uint64_t k = 1; k <= n; k++)
                ATF_REQUIRE(area[k] != 0);
        } else {
            ATF_REQUIRE(n <= (size / KCOV_ENTRY_SIZE - 1) / 4);
            for (uint64_t k = 0; k < n; k++) {
                uint64_t type = area[k * 4 + 1];
                ATF_REQUIRE(KCOV_CMP_GET_SIZE(type) <= 3 &&
                            (type & ~(uint64_t)(KCOV_CMP_MASK | KCOV_CMP_CONST)) == 0);
                ATF_REQUIRE(area[k * 4 + 4] != 0);
            }
        }
        close(fd);
    }
}

/* ---- Threads ---- */

static sem_t go, went;

static void *close_in_thread(void *arg)
{
    int fd = *(int *)arg;

    pthread_set_name_np(pthread_self(), "closer");
    ATF_CHECK(ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == 0);
    (void)close(fd); /* may fail with EBUSY on the real kernel */
    sem_post(&went);
    sem_wait(&go);
    return (NULL);
}

ATF_TC_WITHOUT_HEAD(close_while_running);
ATF_TC_BODY(close_while_running, tc)
{
    const size_t size = pages * PAGE_SIZE;
    int fd = ready_kcov(size);
    uint64_t *area = map_kcov(fd, size), n;
    pthread_t th;

    ATF_REQUIRE(sem_init(&go, 0, 0) == 0 && sem_init(&went, 0, 0) == 0);
    ATF_REQUIRE(pthread_create(&th, NULL, close_in_thread, &fd) == 0);
    sem_wait(&went);
    n = atomic_load_acq_64(&area[0]);
    sem_post(&go);
    pthread_join(th, NULL);
    ATF_CHECK_EQ(atomic_load_acq_64(&area[0]), n);
    fd = ready_kcov(size);
    ATF_CHECK(ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == 0);
    ATF_CHECK(ioctl(fd, KIODISABLE, 0) == 0);
    munmap(area, size);
}

static void *enable_only(void *arg)
{
    int fd = *(int *)arg;

    ATF_CHECK(ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == 0);
    return (NULL);
}

ATF_TC_WITHOUT_HEAD(many_threads);
ATF_TC_BODY(many_threads, tc)
{
    int fd = ready_kcov(PAGE_SIZE);
    pthread_t th;

    for (int i = 0; i < 16; i++) {
        ATF_REQUIRE(pthread_create(&th, NULL, enable_only, &fd) == 0);
        ATF_REQUIRE(pthread_join(th, NULL) == 0);
    }
    ATF_CHECK(ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == 0);
    close(fd);
}

ATF_TC_WITHOUT_HEAD(forked);
ATF_TC_BODY(forked, tc)
{
    int fd = ready_kcov(PAGE_SIZE);
    pid_t pid;

    ATF_REQUIRE(ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) == 0);
    pid = atf_utils_fork();
    if (pid == 0) {
        if (ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC) != -1 || errno != EBUSY)
            errx(2, "enabled twice");
        if (ioctl(fd, KIODISABLE, 0) != -1 || errno != EINVAL)
            errx(3, "disabled the parent's");
        printf("refused\n");
        exit(0);
    }
    atf_utils_wait(pid, 0, "refused\n", "");
}

ATF_TC_WITHOUT_HEAD(no_io);
ATF_TC_BODY(no_io, tc)
{
    int fd = open_kcov(), x = 0;

    ATF_CHECK_ERRNO(ENODEV, read(fd, &x, sizeof(x)) == -1);
    ATF_CHECK_ERRNO(ENODEV, write(fd, &x, sizeof(x)) == -1);
    close(fd);
}

/* ---- What a test program can say about itself ---- */

ATF_TC_WITHOUT_HEAD(expectations);
ATF_TC_BODY(expectations, tc)
{
    atf_tc_expect_fail("arithmetic");
    ATF_CHECK_EQ(1, 2);
    atf_tc_expect_pass();
    ATF_CHECK_STREQ(atf_tc_get_ident(tc), "expectations");
    ATF_CHECK_MATCH("^exp.*s$", "expectations");
    ATF_CHECK_INTEQ(3, nitems(modes) + 1);
    atf_tc_expect_signal(SIGABRT, "abort ends the case");
    abort();
}

ATF_TC_WITHOUT_HEAD(skipped);
ATF_TC_BODY(skipped, tc)
{
    ATF_REQUIRE_KERNEL_MODULE("no_such_module");
}

ATF_TC_WITH_CLEANUP(cleaned);
ATF_TC_HEAD(cleaned, tc)
{
    atf_tc_set_md_var(tc, "descr", "leaves a file to its cleanup");
}
ATF_TC_BODY(cleaned, tc)
{
    atf_utils_create_file("litter", "%s\n", atf_tc_get_md_var(tc, "descr"));
    ATF_REQUIRE(atf_utils_grep_file("^leaves a %s", "litter", "file"));
}
ATF_TC_CLEANUP(cleaned, tc)
{
    if (unlink("litter") == -1)
        warn("litter");
}

ATF_TP_ADD_TCS(tp)
{
    ATF_TP_ADD_TC(tp, size);
    ATF_TP_ADD_TC(tp, limit);
    ATF_TP_ADD_TC(tp, mapping);
    ATF_TP_ADD_TC(tp, enable);
    ATF_TP_ADD_TC(tp, contents);
    ATF_TP_ADD_TC(tp, close_while_running);
    ATF_TP_ADD_TC(tp, many_threads);
    ATF_TP_ADD_TC(tp, forked);
    ATF_TP_ADD_TC(tp, no_io);
    ATF_TP_ADD_TC(tp, expectations);
    ATF_TP_ADD_TC(tp, skipped);
    ATF_TP_ADD_TC(tp, cleaned);
    return (atf_no_error());
}

/*
 * Checks of NetBSD's kcov(4) as test cases of ATF, in that system's manner: only system headers and
 * atf-c.h. Most cases use mode none, which occupies descriptor and thread but records nothing.
 */
#include <sys/cdefs.h>
__COPYRIGHT("@(#) Copyright (c) the authors of kcovbox. MIT.");
__RCSID("$NetBSD$");

#include <sys/param.h>
#include <sys/types.h>
#include <sys/ioccom.h>
#include <sys/ioctl.h>

#include <sys/kcov.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <lwp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atf-c.h>

#include "h_macros.h"

static int open_kcov(void)
{
    int fd;

    RL(fd = open("/dev/kcov", O_RDWR));
    return fd;
}

static int sized_kcov(uint64_t n)
{
    int fd = open_kcov();

    RL(ioctl(fd, KCOV_IOC_SETBUFSIZE, &n));
    return fd;
}

static kcov_int_t *mapped(int fd, uint64_t n)
{
    void *p = mmap(NULL, n * KCOV_ENTRY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    ATF_REQUIRE(p != MAP_FAILED);
    return p;
}

static void traced_calls(void)
{
    ATF_REQUIRE_ERRNO(EBADF, read(-1, NULL, 0) == -1);
    (void)getppid();
}

ATF_TC(kcov_multiopen);
ATF_TC_HEAD(kcov_multiopen, tc)
{
    atf_tc_set_md_var(tc, "descr", "The device can be open many times");
    atf_tc_set_md_var(tc, "require.user", "root");
}
ATF_TC_BODY(kcov_multiopen, tc)
{
    int one = open_kcov(), two = open_kcov();

    ATF_REQUIRE(one != two);
    RL(close(one));
    RL(close(two));
}

ATF_TC_WITHOUT_HEAD(kcov_bufsize);
ATF_TC_BODY(kcov_bufsize, tc)
{
    static const uint64_t refused[] = {0, 1, 262145, UINT64_MAX};
    uint64_t n;
    int fd = open_kcov();

    for (size_t i = 0; i < __arraycount(refused); i++) {
        n = refused[i];
        ATF_REQUIRE_ERRNO(EINVAL, ioctl(fd, KCOV_IOC_SETBUFSIZE, &n) == -1);
    }
    n = 2;
    ATF_REQUIRE_EQ(ioctl(fd, KCOV_IOC_SETBUFSIZE, &n), 0);
    ATF_REQUIRE_ERRNO(EEXIST, ioctl(fd, KCOV_IOC_SETBUFSIZE, &n) == -1);
    RL(close(fd));
    RL(close(sized_kcov(262144)));
}

ATF_TC_WITHOUT_HEAD(kcov_mmap);
ATF_TC_BODY(kcov_mmap, tc)
{
    const uint64_t n = 3 * PAGE_SIZE / KCOV_ENTRY_SIZE;
    int fd = open_kcov();
    void *p;

    ATF_REQUIRE_ERRNO(ENOMEM, mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
                                  MAP_FAILED);
    RL(close(fd));

    fd = sized_kcov(n);
    ATF_REQUIRE_ERRNO(EACCES, mmap(NULL, PAGE_SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) ==
                                  MAP_FAILED);
    ATF_REQUIRE_ERRNO(ENOMEM,
                      mmap(NULL, 4 * PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
    kcov_int_t *all = mapped(fd, n);
    p = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 2 * PAGE_SIZE);
    ATF_REQUIRE(p != MAP_FAILED);
    all[2 * PAGE_SIZE / KCOV_ENTRY_SIZE] = 77;
    ATF_CHECK_EQ(*(kcov_int_t *)p, 77);
    ATF_CHECK_ERRNO(EACCES, mprotect(p, PAGE_SIZE, PROT_READ | PROT_WRITE) == -1);
    RL(close(fd));
    /* The area lives as long as it is mapped. */
    all[0] = 1;
    ATF_CHECK_EQ(all[2 * PAGE_SIZE / KCOV_ENTRY_SIZE], 77);
    RL(munmap(__UNVOLATILE(all), n * KCOV_ENTRY_SIZE));
    RL(munmap(p, PAGE_SIZE));
}

ATF_TC_WITHOUT_HEAD(kcov_modes);
ATF_TC_BODY(kcov_modes, tc)
{
    int fd = open_kcov(), mode = 3;

    ATF_REQUIRE_ERRNO(EINVAL, ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1);
    mode = KCOV_MODE_NONE;
    ATF_REQUIRE_ERRNO(ENOBUFS, ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1);
    RL(close(fd));
    for (mode = KCOV_MODE_NONE; mode <= KCOV_MODE_TRACE_CMP; mode++) {
        fd = sized_kcov(512);
        RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
        RL(ioctl(fd, KCOV_IOC_DISABLE));
        RL(close(fd));
    }
}

ATF_TC_WITHOUT_HEAD(kcov_enable);
ATF_TC_BODY(kcov_enable, tc)
{
    uint64_t n = 512;
    int fd = open_kcov(), other, mode = KCOV_MODE_NONE;

    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_DISABLE) == -1);
    RL(ioctl(fd, KCOV_IOC_SETBUFSIZE, &n));
    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_DISABLE) == -1);
    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1);
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(fd, KCOV_IOC_SETBUFSIZE, &n) == -1);
    other = open_kcov();
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(other, KCOV_IOC_ENABLE, &mode) == -1);
    RL(ioctl(fd, KCOV_IOC_DISABLE));
    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_DISABLE) == -1);
    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    RL(ioctl(fd, KCOV_IOC_DISABLE));
    ATF_REQUIRE_ERRNO(EFAULT, ioctl(fd, KCOV_IOC_ENABLE, NULL) == -1);
    ATF_REQUIRE_ERRNO(EINVAL, ioctl(fd, _IO('K', 99)) == -1);
    RL(close(other));
    RL(close(fd));
}

ATF_TC_WITHOUT_HEAD(kcov_close_enabled);
ATF_TC_BODY(kcov_close_enabled, tc)
{
    int fd = sized_kcov(4096), mode = KCOV_MODE_TRACE_PC;
    kcov_int_t *area = mapped(fd, 4096);

    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    RL(close(fd));
    /* No descriptor is left to disable it: it goes on recording into the mapped area. */
    KCOV_STORE(area[0], 0);
    traced_calls();
    ATF_REQUIRE(KCOV_LOAD(area[0]) > 0);
    fd = sized_kcov(512);
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1);
}

ATF_TC_WITHOUT_HEAD(kcov_dup2);
ATF_TC_BODY(kcov_dup2, tc)
{
    int fd = sized_kcov(512), mode = KCOV_MODE_NONE;

    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    RL(dup2(fd, 777));
    RL(close(fd));
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(777, KCOV_IOC_ENABLE, &mode) == -1);
    RL(ioctl(777, KCOV_IOC_DISABLE));
    RL(close(777));
}

/* ---- Threads ---- */

struct pass {
    int fd;
    int mode;
    sem_t is_enabled;
    sem_t may_go;
};

static void *hold(void *arg)
{
    struct pass *p = arg;

    RL(ioctl(p->fd, KCOV_IOC_ENABLE, &p->mode));
    RL(sem_post(&p->is_enabled));
    RL(sem_wait(&p->may_go));
    return NULL;
}

ATF_TC_WITHOUT_HEAD(kcov_threads);
ATF_TC_BODY(kcov_threads, tc)
{
    struct pass p = {.fd = sized_kcov(512), .mode = KCOV_MODE_NONE};
    pthread_t th;

    RL(sem_init(&p.is_enabled, 0, 0));
    RL(sem_init(&p.may_go, 0, 0));
    RZ(pthread_create(&th, NULL, hold, &p));
    RL(sem_wait(&p.is_enabled));
    ATF_CHECK_ERRNO(EBUSY, ioctl(p.fd, KCOV_IOC_ENABLE, &p.mode) == -1);
    ATF_CHECK_ERRNO(ENOENT, ioctl(p.fd, KCOV_IOC_DISABLE) == -1);
    RL(sem_post(&p.may_go));
    RZ(pthread_join(th, NULL));
    /* The owner has exited. */
    RL(ioctl(p.fd, KCOV_IOC_ENABLE, &p.mode));
    RL(ioctl(p.fd, KCOV_IOC_DISABLE));
    RL(close(p.fd));
}

static void *trace_and_leave(void *arg)
{
    struct pass *p = arg;

    RL(ioctl(p->fd, KCOV_IOC_ENABLE, &p->mode));
    ATF_REQUIRE(_lwp_self() > 0);
    traced_calls();
    return NULL;
}

ATF_TC_WITHOUT_HEAD(kcov_reuse);
ATF_TC_BODY(kcov_reuse, tc)
{
    struct pass p = {.fd = sized_kcov(8192), .mode = KCOV_MODE_TRACE_PC};
    kcov_int_t *area = mapped(p.fd, 8192), n;
    pthread_t th;

    for (int i = 0; i < 10; i++) {
        KCOV_STORE(area[0], 0);
        RZ(pthread_create(&th, NULL, trace_and_leave, &p));
        RZ(pthread_join(th, NULL));
        n = KCOV_LOAD(area[0]);
        ATF_REQUIRE_MSG(n > 0, "round %d: no records", i);
        traced_calls();
        ATF_REQUIRE_EQ(KCOV_LOAD(area[0]), n);
    }
}

/* ---- Contents ---- */

static void check_area(int mode, uint64_t n)
{
    int fd = sized_kcov(n);
    kcov_int_t *area = mapped(fd, n), count;

    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    KCOV_STORE(area[0], 0);
    traced_calls();
    count = KCOV_LOAD(area[0]);
    RL(ioctl(fd, KCOV_IOC_DISABLE));
    if (mode == KCOV_MODE_NONE) {
        ATF_REQUIRE_EQ(count, 0);
    } else if (mode == KCOV_MODE_TRACE_PC) {
        ATF_REQUIRE(count > 0 && count <= n - 1);
        for (kcov_int_t i = 0; i < count; i++)
            ATF_REQUIRE(area[i + 1] != 0);
    } else {
        ATF_REQUIRE(count <= (n - 1) / 4);
        for (kcov_int_t i = 0; i < count; i++)
            ATF_REQUIRE(area[i * 4 + 1] >> 1 <= 3 && area[i * 4 + 4] != 0);
    }
    RL(munmap(__UNVOLATILE(area), n * KCOV_ENTRY_SIZE));
    RL(close(fd));
}

ATF_TC_WITHOUT_HEAD(kcov_contents);
ATF_TC_BODY(kcov_contents, tc)
{
    for (int mode = KCOV_MODE_NONE; mode <= KCOV_MODE_TRACE_CMP; mode++) {
        check_area(mode, 512);
        check_area(mode, 100 * 1024);
    }
}

ATF_TC_WITHOUT_HEAD(kcov_no_io);
ATF_TC_BODY(kcov_no_io, tc)
{
    char byte = 0;
    int fd = open_kcov();

    ATF_CHECK_ERRNO(EOPNOTSUPP, read(fd, &byte, 1) == -1);
    ATF_CHECK_ERRNO(EOPNOTSUPP, write(fd, &byte, 1) == -1);
}

ATF_TC_WITHOUT_HEAD(kcov_fork);
ATF_TC_BODY(kcov_fork, tc)
{
    int fd = sized_kcov(512), mode = KCOV_MODE_NONE, status;
    pid_t pid;

    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    RL(pid = fork());
    if (pid == 0) {
        int own, refused = ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1 && errno == EBUSY;
        uint64_t n = 512;

        own = open("/dev/kcov", O_RDWR);
        _exit(refused && ioctl(own, KCOV_IOC_SETBUFSIZE, &n) == 0 &&
                      ioctl(own, KCOV_IOC_ENABLE, &mode) == 0
                  ? EXIT_SUCCESS
                  : EXIT_FAILURE);
    }
    RL(waitpid(pid, &status, 0));
    ATF_REQUIRE(WIFEXITED(status));
    ATF_REQUIRE_EQ(WEXITSTATUS(status), EXIT_SUCCESS);
    RL(ioctl(fd, KCOV_IOC_DISABLE));
}

ATF_TC_WITHOUT_HEAD(kcov_remote);
ATF_TC_BODY(kcov_remote, tc)
{
    struct kcov_ioc_remote_attach ra = {.subsystem = KCOV_REMOTE_VHCI,
                                        .id = KCOV_REMOTE_VHCI_ID(0, 1)};
    struct kcov_ioc_remote_attach bad = {.subsystem = 999, .id = 0};
    int fd = open_kcov(), second = open_kcov(), mode = KCOV_MODE_TRACE_PC;
    kcov_int_t *area;

    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_REMOTE_DETACH) == -1);
    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_REMOTE_ATTACH, &bad) == -1);
    RL(ioctl(fd, KCOV_IOC_REMOTE_ATTACH, &ra));
    RL(ioctl(second, KCOV_IOC_REMOTE_ATTACH, &ra));
    area = mapped(fd, 262144);
    RL(ioctl(fd, KCOV_IOC_ENABLE, &mode));
    ATF_REQUIRE_ERRNO(EBUSY, ioctl(second, KCOV_IOC_ENABLE, &mode) == -1);
    KCOV_STORE(area[0], 0);
    traced_calls();
    ATF_REQUIRE_EQ(KCOV_LOAD(area[0]), 0);
    /* A mailbox has no owner. */
    RL(ioctl(second, KCOV_IOC_DISABLE));
    ATF_REQUIRE_ERRNO(ENOENT, ioctl(fd, KCOV_IOC_DISABLE) == -1);
    RL(ioctl(fd, KCOV_IOC_REMOTE_DETACH));
    ATF_REQUIRE_ERRNO(ENOBUFS, ioctl(fd, KCOV_IOC_ENABLE, &mode) == -1);
}

ATF_TP_ADD_TCS(tp)
{
    ATF_TP_ADD_TC(tp, kcov_multiopen);
    ATF_TP_ADD_TC(tp, kcov_bufsize);
    ATF_TP_ADD_TC(tp, kcov_mmap);
    ATF_TP_ADD_TC(tp, kcov_modes);
    ATF_TP_ADD_TC(tp, kcov_enable);
    ATF_TP_ADD_TC(tp, kcov_close_enabled);
    ATF_TP_ADD_TC(tp, kcov_dup2);
    ATF_TP_ADD_TC(tp, kcov_threads);
    ATF_TP_ADD_TC(tp, kcov_reuse);
    ATF_TP_ADD_TC(tp, kcov_contents);
    ATF_TP_ADD_TC(tp, kcov_no_io);
    ATF_TP_ADD_TC(tp, kcov_fork);
    ATF_TP_ADD_TC(tp, kcov_remote);
    return atf_no_error();
}

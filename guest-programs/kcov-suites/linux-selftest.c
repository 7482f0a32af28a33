// SPDX-License-Identifier: MIT
/*
 * Checks of Linux's kcov in the style of the kernel tree's own tests: fixtures, variants, blocks
 * after failed assertions. Modes 0 and 1 only, so that it runs on a real kernel too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"

#define KCOV_INIT_TRACE _IOR('c', 1, unsigned long)
#define KCOV_ENABLE     _IO('c', 100)
#define KCOV_DISABLE    _IO('c', 101)
#define COVER_SIZE      (64 << 10)
#define KCOV_TRACE_PC   0
#define KCOV_TRACE_CMP  1

FIXTURE(kcov)
{
    int fd;
    unsigned long *cover;
};

FIXTURE_VARIANT(kcov)
{
    unsigned long mode;
    unsigned long words;
    int per_record;
};

FIXTURE_VARIANT_ADD(kcov, pc){
    .mode = KCOV_TRACE_PC,
    .words = COVER_SIZE,
    .per_record = 1,
};

FIXTURE_VARIANT_ADD(kcov, cmp){
    .mode = KCOV_TRACE_CMP,
    .words = COVER_SIZE,
    .per_record = 4,
};

FIXTURE_VARIANT_ADD(kcov, small_pc){
    .mode = KCOV_TRACE_PC,
    .words = 512,
    .per_record = 1,
};

FIXTURE_SETUP(kcov)
{
    self->fd = open("/sys/kernel/debug/kcov", O_RDWR);
    if (self->fd == -1 && errno == ENOENT)
        SKIP(return, "no kcov in this kernel");
    ASSERT_NE(-1, self->fd)
    {
        TH_LOG("open: %s", strerror(errno));
    }
    ASSERT_EQ(0, ioctl(self->fd, KCOV_INIT_TRACE, variant->words));
    self->cover = mmap(NULL, variant->words * sizeof(unsigned long), PROT_READ | PROT_WRITE,
                       MAP_SHARED, self->fd, 0);
    ASSERT_NE(MAP_FAILED, self->cover);
}

FIXTURE_TEARDOWN(kcov)
{
    EXPECT_EQ(0, munmap(self->cover, variant->words * sizeof(unsigned long)));
    EXPECT_EQ(0, close(self->fd));
}

TEST_F(kcov, records)
{
    unsigned long n, i;

    ASSERT_EQ(0, ioctl(self->fd, KCOV_ENABLE, variant->mode));
    __atomic_store_n(&self->cover[0], 0, __ATOMIC_RELAXED);
    EXPECT_EQ(-1, syscall(__NR_read, -1, NULL, 0));
    n = __atomic_load_n(&self->cover[0], __ATOMIC_RELAXED);
    ASSERT_EQ(0, ioctl(self->fd, KCOV_DISABLE, 0));
    EXPECT_LT(0UL, n);
    EXPECT_LE(n, (variant->words - 1) / variant->per_record);
    for (i = 0; i < n; i++)
        ASSERT_NE(0UL, self->cover[(i + 1) * variant->per_record])
        {
            TH_LOG("record %lu has no address", i);
        }
}

TEST_F(kcov, full)
{
    unsigned long most = (variant->words - 1) / variant->per_record;
    struct stat st;

    ASSERT_EQ(0, ioctl(self->fd, KCOV_ENABLE, variant->mode));
    __atomic_store_n(&self->cover[0], most - 2, __ATOMIC_RELAXED);
    for (int i = 0; i < 20; i++)
        (void)stat("/proc/self/maps", &st);
    EXPECT_EQ(most, __atomic_load_n(&self->cover[0], __ATOMIC_RELAXED));
    ASSERT_EQ(0, ioctl(self->fd, KCOV_DISABLE, 0));
}

TEST_F(kcov, states)
{
    ASSERT_EQ(-1, ioctl(self->fd, KCOV_INIT_TRACE, variant->words));
    EXPECT_EQ(EBUSY, errno);
    ASSERT_EQ(-1, ioctl(self->fd, KCOV_DISABLE, 0));
    EXPECT_EQ(EINVAL, errno);
    ASSERT_EQ(0, ioctl(self->fd, KCOV_ENABLE, variant->mode));
    ASSERT_EQ(-1, ioctl(self->fd, KCOV_ENABLE, variant->mode));
    EXPECT_EQ(EINVAL, errno);
    ASSERT_EQ(-1, ioctl(self->fd, KCOV_DISABLE, 1));
    EXPECT_EQ(EINVAL, errno);
    ASSERT_EQ(0, ioctl(self->fd, KCOV_DISABLE, 0));
}

TEST_F(kcov, fork_server)
{
    for (int i = 0; i < 4; i++) {
        int status;
        pid_t pid;

        __atomic_store_n(&self->cover[0], 0, __ATOMIC_RELAXED);
        pid = fork();
        ASSERT_NE(-1, pid);
        if (pid == 0) {
            if (ioctl(self->fd, KCOV_ENABLE, variant->mode))
                _exit(1);
            (void)!syscall(__NR_lseek, -1, 0, SEEK_SET);
            _exit(0);
        }
        ASSERT_EQ(pid, waitpid(pid, &status, 0));
        ASSERT_EQ(0, status);
        ASSERT_NE(0UL, self->cover[0]);
    }
}

TEST(no_area)
{
    int fd = open("/sys/kernel/debug/kcov", O_RDWR);

    if (fd == -1)
        SKIP(return, "no kcov in this kernel");
    EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
    EXPECT_EQ(EINVAL, errno);
    EXPECT_EQ(-1, ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC));
    EXPECT_EQ(EINVAL, errno);
    EXPECT_EQ(-1, ioctl(fd, KCOV_INIT_TRACE, 1));
    EXPECT_EQ(EINVAL, errno);
    EXPECT_EQ(-1, ioctl(fd, _IO('c', 77), 0));
    EXPECT_EQ(ENOTTY, errno);
    close(fd);
}

TEST_SIGNAL(reported_signal, SIGABRT)
{
    abort();
}

TEST_HARNESS_MAIN

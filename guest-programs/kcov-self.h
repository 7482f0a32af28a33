/*
 * Traces a program that does not use kcov: `kcovbox run --trace --cover F prog.c` includes this
 * before its first line. The first thread of the program and of each forked child records the
 * kernel code it executes; threads that the program creates would need descriptors of their own.
 *
 * The host receives each record from the device, even when the buffer is full; nothing here reads
 * the buffer. Linux records each PC once (UNIQ_PC), so that long runs have short traces.
 */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* the program may ask for it only after this */
#endif
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__OpenBSD__) || defined(__NetBSD__) || defined(__FreeBSD__)
#include <sys/kcov.h>
#define KCOV_SELF_DEVICE "/dev/kcov"
#else
#include <linux/kcov.h>
#define KCOV_SELF_DEVICE "/sys/kernel/debug/kcov"
#endif

#define KCOV_SELF_WORDS (64UL << 10)

static int kcov_self_setup(int fd)
{
#if defined(__OpenBSD__)
    unsigned long words = KCOV_SELF_WORDS;
    return ioctl(fd, KIOSETBUFSIZE, &words);
#elif defined(__NetBSD__)
    uint64_t words = KCOV_SELF_WORDS;
    return ioctl(fd, KCOV_IOC_SETBUFSIZE, &words);
#elif defined(__FreeBSD__)
    return ioctl(fd, KIOSETBUFSIZE, KCOV_SELF_WORDS);
#else
    return ioctl(fd, KCOV_INIT_TRACE, KCOV_SELF_WORDS);
#endif
}

static void kcov_self_enable(int fd)
{
#if defined(__OpenBSD__)
    int mode = KCOV_MODE_TRACE_PC;
    ioctl(fd, KIOENABLE, &mode);
#elif defined(__NetBSD__)
    int mode = KCOV_MODE_TRACE_PC;
    ioctl(fd, KCOV_IOC_ENABLE, &mode);
#elif defined(__FreeBSD__)
    ioctl(fd, KIOENABLE, KCOV_MODE_TRACE_PC);
#else
    ioctl(fd, KCOV_ENABLE, KCOV_TRACE_UNIQ_PC);
#endif
}

/* fd as a number above a program's own, where the kernel has dup() but no fcntl(). */
static int kcov_self_raised(int fd)
{
    int raised = fd;

    if (fd >= 0 && fd < 200) {
        raised = kcov_self_raised(dup(fd));
        close(fd);
    }
    return raised;
}

static void kcov_self_start(void)
{
    int low = open(KCOV_SELF_DEVICE, O_RDWR | O_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 200);

    if (fd < 0)
        fd = kcov_self_raised(low);
    else
        close(low);
    if (fd < 0 || kcov_self_setup(fd) != 0)
        return;
    mmap(NULL, KCOV_SELF_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    kcov_self_enable(fd);
}

__attribute__((constructor)) static void kcov_self_init(void)
{
    kcov_self_start();
    pthread_atfork(NULL, NULL, kcov_self_start);
}

/*
 * Trace a program that knows nothing of kcov: include this before its first line, and its
 * first thread and those of its forked children report each kernel PC once (UNIQ_PC mode of the
 * Linux dialect, so that no area overflows, whatever the program does).
 *
 *     kcovbox run --dialect linux --cflags '-include guest-programs/kcov-self.h' --cover F prog.c
 *
 * Threads that the program creates are not traced; their descriptors would have to be their own.
 * The records are for the host (--cover); nothing here reads the area.
 */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* the program may ask for it only after this */
#endif
#include <fcntl.h>
#include <linux/kcov.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define KCOV_SELF_WORDS (64UL << 10)

static void kcov_self_start(void)
{
    int low = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 200); /* above what a program counts on */

    if (low >= 0)
        close(low);
    if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, KCOV_SELF_WORDS) != 0)
        return;
    mmap(NULL, KCOV_SELF_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ioctl(fd, KCOV_ENABLE, KCOV_TRACE_UNIQ_PC);
}

__attribute__((constructor)) static void kcov_self_init(void)
{
    kcov_self_start();
    pthread_atfork(NULL, NULL, kcov_self_start);
}

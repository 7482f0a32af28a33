/* The parts that all tests use. */
#pragma once
#include "../check.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/kcov.h>
#include <sys/mman.h>

#define WORDS 4096UL

/* A descriptor with an area of so many words, mapped. */
static inline int open_kcov(unsigned long words, unsigned long **area)
{
    int fd = open("/dev/kcov", O_RDWR);

    if (fd < 0 || ioctl(fd, KIOSETBUFSIZE, &words) != 0)
        return -1;
    *area = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return *area == MAP_FAILED ? -1 : fd;
}

static inline int enable(int fd)
{
    int mode = KCOV_MODE_TRACE_PC;

    return ioctl(fd, KIOENABLE, &mode);
}

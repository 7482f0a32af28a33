/*
 * One spelling for the four dialects, so that conformance.h and behaviour.h can be written once.
 * The program that includes this defines exactly one DIALECT_*.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef DIALECT_LINUX
#include <linux/kcov.h>
#else
#include <sys/kcov.h>
#endif

typedef uint64_t word;

#if defined(DIALECT_OPENBSD)
#define NODE      "/dev/kcov"
#define MODE_PC   KCOV_MODE_TRACE_PC
#define MODE_CMP  KCOV_MODE_TRACE_CMP
#define MODE_NONE KCOV_MODE_NONE
#elif defined(DIALECT_NETBSD)
#define NODE      "/dev/kcov"
#define MODE_PC   KCOV_MODE_TRACE_PC
#define MODE_CMP  KCOV_MODE_TRACE_CMP
#define MODE_NONE KCOV_MODE_NONE
#elif defined(DIALECT_FREEBSD)
#define NODE      "/dev/kcov"
#define MODE_PC   KCOV_MODE_TRACE_PC
#define MODE_CMP  KCOV_MODE_TRACE_CMP
#define MODE_NONE 99
#elif defined(DIALECT_LINUX)
#define NODE      "/sys/kernel/debug/kcov"
#define MODE_PC   KCOV_TRACE_PC
#define MODE_CMP  KCOV_TRACE_CMP
#define MODE_NONE 99
#else
#error no dialect
#endif

#define BAD_POINTER ((void *)8)

static inline int kcov_size(int fd, word words)
{
#if defined(DIALECT_OPENBSD)
    return ioctl(fd, KIOSETBUFSIZE, &words);
#elif defined(DIALECT_NETBSD)
    return ioctl(fd, KCOV_IOC_SETBUFSIZE, &words);
#elif defined(DIALECT_FREEBSD)
    return ioctl(fd, KIOSETBUFSIZE, (int)words);
#else
    return ioctl(fd, KCOV_INIT_TRACE, words);
#endif
}

static inline int kcov_enable(int fd, int mode)
{
#if defined(DIALECT_OPENBSD)
    return ioctl(fd, KIOENABLE, &mode);
#elif defined(DIALECT_NETBSD)
    return ioctl(fd, KCOV_IOC_ENABLE, &mode);
#elif defined(DIALECT_FREEBSD)
    return ioctl(fd, KIOENABLE, mode);
#else
    return ioctl(fd, KCOV_ENABLE, mode);
#endif
}

static inline int kcov_disable(int fd, long arg)
{
#if defined(DIALECT_NETBSD)
    return ioctl(fd, KCOV_IOC_DISABLE, arg);
#elif defined(DIALECT_LINUX)
    return ioctl(fd, KCOV_DISABLE, arg);
#else
    return ioctl(fd, KIODISABLE, arg);
#endif
}

/* The first two commands with a bad pointer; dialects that pass by value have none. */
static inline int kcov_bad_pointer(int fd, bool enable)
{
#if defined(DIALECT_OPENBSD)
    return ioctl(fd, enable ? KIOENABLE : KIOSETBUFSIZE, BAD_POINTER);
#elif defined(DIALECT_NETBSD)
    return ioctl(fd, enable ? KCOV_IOC_ENABLE : KCOV_IOC_SETBUFSIZE, BAD_POINTER);
#elif defined(DIALECT_LINUX)
    (void)enable;
    return ioctl(fd, KCOV_REMOTE_ENABLE, BAD_POINTER);
#else
    (void)fd;
    (void)enable;
    errno = ENOSYS;
    return -1;
#endif
}

/*
 * Remote attachment: OpenBSD attaches the process (value = subsystem), NetBSD the mailbox
 * (value = subsystem << 32 | port of bus 0), Linux enables for handle `value`.
 */
static inline int kcov_attach(int fd, word value)
{
#if defined(DIALECT_OPENBSD)
    struct kio_remote_attach arg = {.subsystem = (int)value, .id = 7};
    return ioctl(fd, KIOREMOTEATTACH, &arg);
#elif defined(DIALECT_NETBSD)
    struct kcov_ioc_remote_attach arg = {value >> 32, KCOV_REMOTE_VHCI_ID(0, value & 0xffffffff)};
    return ioctl(fd, KCOV_IOC_REMOTE_ATTACH, &arg);
#elif defined(DIALECT_LINUX)
    union {
        struct kcov_remote_arg arg;
        word space[4];
    } u = {.space = {KCOV_TRACE_PC | 64ULL << 32, 1, 0, value}};
    return ioctl(fd, KCOV_REMOTE_ENABLE, &u.arg);
#else
    (void)value;
    (void)fd;
    errno = ENOSYS;
    return -1;
#endif
}

/* Linux: "MODE,AREA,NUM,COMMON,HANDLE,HANDLE", all numbers; fewer handles than NUM read beyond. */
static inline int kcov_remote(int fd, const char *text)
{
#ifdef DIALECT_LINUX
    word field[6] = {0};
    word space[3 + KCOV_REMOTE_MAX_HANDLES + 1] = {0};
    char *end = (char *)text;

    for (int i = 0; i < 6 && *end; i++, end += *end == ',')
        field[i] = strtoul(end, &end, 0);
    space[0] = field[0] | field[1] << 32;
    space[1] = field[2];
    space[2] = field[3];
    space[3] = field[4];
    space[4] = field[5];
    return ioctl(fd, KCOV_REMOTE_ENABLE, space);
#else
    (void)fd;
    (void)text;
    errno = ENOSYS;
    return -1;
#endif
}

static inline int kcov_detach(int fd)
{
#if defined(DIALECT_NETBSD)
    return ioctl(fd, KCOV_IOC_REMOTE_DETACH);
#else
    (void)fd;
    errno = ENOSYS;
    return -1;
#endif
}

static inline int kcov_open(void)
{
    return open(NODE, O_RDWR);
}

static inline word *kcov_map(int fd, word words)
{
    void *p = mmap(NULL, words * sizeof(word), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

#define LOAD(p)     __atomic_load_n((p), __ATOMIC_RELAXED)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)

/*
 * sysctlbyname(3) for the few names that programs around kcov ask for. The kernel's own are behind
 * /dev/sysctl, as text; here they are integers of the caller's size.
 */
#ifndef KCOVBOX_BSD_SYSCTL_H
#define KCOVBOX_BSD_SYSCTL_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__OpenBSD__)
#define KCOVBOX_OSTYPE "OpenBSD"
#elif defined(__NetBSD__)
#define KCOVBOX_OSTYPE "NetBSD"
#else
#define KCOVBOX_OSTYPE "FreeBSD"
#endif

#define CTL_KERN       1
#define CTL_VM         2
#define CTL_HW         6
#define KERN_OSTYPE    1
#define KERN_OSRELEASE 2
#define KERN_VERSION   4
#define KERN_HOSTNAME  10
#define HW_MACHINE     1
#define HW_MODEL       2
#define HW_NCPU        3
#define HW_PAGESIZE    7
#define HW_NCPUONLINE  25

static inline int kcovbox_sysctl_give(unsigned long value, void *old, size_t *length)
{
    unsigned int narrow = (unsigned int)value;
    size_t size = length && *length >= sizeof(value) ? sizeof(value) : sizeof(narrow);

    if (!length)
        return 0;
    if (old && *length < sizeof(narrow)) {
        errno = ENOMEM;
        return -1;
    }
    if (old)
        memcpy(old, size == sizeof(value) ? (void *)&value : (void *)&narrow, size);
    else
        size = sizeof(narrow);
    *length = size;
    return 0;
}

/* One of the kernel's own, through /dev/sysctl. */
static inline int kcovbox_sysctl_kernel(int fd, const char *name, void *old, size_t *length,
                                        const void *new_value, size_t new_length)
{
    char text[128];
    unsigned long value = 0;

    if (write(fd, name, strlen(name)) == -1)
        return -1;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    if (got <= 0)
        return -1;
    text[got] = '\0';
    if (kcovbox_sysctl_give(strtoul(text, NULL, 0), old, length) == -1)
        return -1;
    if (!new_value)
        return 0;
    memcpy(&value, new_value, new_length < sizeof(value) ? new_length : sizeof(value));
    int n = snprintf(text, sizeof(text), "%s=%lu", name, value);
    return write(fd, text, (size_t)n) == n ? 0 : -1;
}

/* A text with its NUL; a buffer that is too small gets the part that fits, and ENOMEM. */
static inline int kcovbox_sysctl_text(const char *text, void *old, size_t *length)
{
    size_t size = strlen(text) + 1, room = length ? *length : 0;

    if (!length)
        return 0;
    *length = size;
    if (!old)
        return 0;
    memcpy(old, text, size < room ? size : room);
    if (size <= room)
        return 0;
    *length = room;
    errno = ENOMEM;
    return -1;
}

/* 1: name is not one of the texts. */
static inline int kcovbox_sysctl_named(const char *name, void *old, size_t *length)
{
    struct utsname u;

    if (uname(&u) == -1)
        return -1;
    if (!strcmp(name, "kern.ostype"))
        return kcovbox_sysctl_text(KCOVBOX_OSTYPE, old, length);
    if (!strcmp(name, "kern.osrelease"))
        return kcovbox_sysctl_text(u.release, old, length);
    if (!strcmp(name, "kern.version"))
        return kcovbox_sysctl_text(u.version, old, length);
    if (!strcmp(name, "kern.hostname"))
        return kcovbox_sysctl_text(u.nodename, old, length);
    if (!strcmp(name, "hw.machine") || !strcmp(name, "hw.machine_arch"))
        return kcovbox_sysctl_text("riscv64", old, length);
    return 1;
}

static inline int __attribute__((__unused__))
sysctlbyname(const char *name, void *old, size_t *length, const void *new_value, size_t new_length)
{
    if (!strcmp(name, "hw.ncpu") || !strcmp(name, "hw.ncpuonline"))
        return kcovbox_sysctl_give((unsigned long)sysconf(_SC_NPROCESSORS_ONLN), old, length);
    if (!strcmp(name, "hw.pagesize"))
        return kcovbox_sysctl_give((unsigned long)sysconf(_SC_PAGESIZE), old, length);
    int text = kcovbox_sysctl_named(name, old, length);
    if (text != 1)
        return text;
    int fd = open("/dev/sysctl", O_RDWR);
    if (fd == -1)
        return -1;
    int result = kcovbox_sysctl_kernel(fd, name, old, length, new_value, new_length);
    int saved = errno;
    close(fd);
    errno = saved;
    return result;
}

static inline int __attribute__((__unused__)) sysctl(const int *mib, unsigned int depth, void *old,
                                                     size_t *length, const void *new_value,
                                                     size_t new_length)
{
    static const struct {
        int top, second;
        const char *name;
    } known[] = {
        {CTL_HW, HW_NCPU, "hw.ncpu"},
        {CTL_HW, HW_NCPUONLINE, "hw.ncpuonline"},
        {CTL_HW, HW_PAGESIZE, "hw.pagesize"},
        {CTL_HW, HW_MACHINE, "hw.machine"},
        {CTL_KERN, KERN_OSTYPE, "kern.ostype"},
        {CTL_KERN, KERN_OSRELEASE, "kern.osrelease"},
        {CTL_KERN, KERN_VERSION, "kern.version"},
        {CTL_KERN, KERN_HOSTNAME, "kern.hostname"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (depth == 2 && mib[0] == known[i].top && mib[1] == known[i].second)
            return sysctlbyname(known[i].name, old, length, new_value, new_length);
    errno = ENOENT;
    return -1;
}

#endif

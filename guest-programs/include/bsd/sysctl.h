/*
 * sysctlbyname(3) for the few names that programs around kcov ask for. Names of the kernel's own
 * are files below /proc/sys; numbers travel as text there and as integers of the caller's size here.
 */
#ifndef KCOVBOX_BSD_SYSCTL_H
#define KCOVBOX_BSD_SYSCTL_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CTL_KERN 1
#define CTL_VM   2
#define CTL_HW   6
#define KERN_OSTYPE   1
#define KERN_OSRELEASE 2
#define KERN_VERSION  4
#define KERN_HOSTNAME 10
#define HW_MACHINE  1
#define HW_MODEL    2
#define HW_NCPU     3
#define HW_PAGESIZE 7
#define HW_NCPUONLINE 25

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

static inline int __attribute__((__unused__))
sysctlbyname(const char *name, void *old, size_t *length, const void *new_value, size_t new_length)
{
    char path[256], text[64];
    unsigned long value = 0;
    ssize_t got;
    int fd;

    if (!strcmp(name, "hw.ncpu") || !strcmp(name, "hw.ncpuonline"))
        return kcovbox_sysctl_give((unsigned long)sysconf(_SC_NPROCESSORS_ONLN), old, length);
    if (!strcmp(name, "hw.pagesize"))
        return kcovbox_sysctl_give((unsigned long)sysconf(_SC_PAGESIZE), old, length);
    snprintf(path, sizeof(path), "/proc/sys/%s", name);
    for (char *c = path + 10; *c; c++)
        if (*c == '.')
            *c = '/';
    fd = open(path, new_value ? O_RDWR : O_RDONLY);
    if (fd == -1)
        return -1;
    got = read(fd, text, sizeof(text) - 1);
    if (got > 0) {
        text[got] = '\0';
        value = strtoul(text, NULL, 0);
    }
    if (got < 0 || kcovbox_sysctl_give(value, old, length) == -1) {
        close(fd);
        return -1;
    }
    if (new_value) {
        value = 0;
        memcpy(&value, new_value, new_length < sizeof(value) ? new_length : sizeof(value));
        int n = snprintf(text, sizeof(text), "%lu", value);
        lseek(fd, 0, SEEK_SET);
        if (write(fd, text, (size_t)n) != n) {
            close(fd);
            return -1;
        }
    }
    close(fd);
    return 0;
}

static inline int __attribute__((__unused__))
sysctl(const int *mib, unsigned int depth, void *old, size_t *length, const void *new_value,
       size_t new_length)
{
    (void)new_value;
    (void)new_length;
    if (depth == 2 && mib[0] == CTL_HW && (mib[1] == HW_NCPU || mib[1] == HW_NCPUONLINE))
        return sysctlbyname("hw.ncpu", old, length, NULL, 0);
    if (depth == 2 && mib[0] == CTL_HW && mib[1] == HW_PAGESIZE)
        return sysctlbyname("hw.pagesize", old, length, NULL, 0);
    errno = ENOENT;
    return -1;
}

#endif

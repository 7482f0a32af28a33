/* Sets of harts and the calling thread's own, by the C library's functions. */
#ifndef KCOVBOX_FREEBSD_SYS_CPUSET_H
#define KCOVBOX_FREEBSD_SYS_CPUSET_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

typedef cpu_set_t cpuset_t;
typedef int cpulevel_t, cpuwhich_t;

#define CPU_LEVEL_WHICH 3
#define CPU_WHICH_TID   1
#define CPU_WHICH_PID   2

/* id: -1 is the caller. */
static inline int __attribute__((__unused__)) cpuset_setaffinity(cpulevel_t level, cpuwhich_t which,
                                                                 int64_t id, size_t size,
                                                                 const cpuset_t *mask)
{
    (void)which;
    if (level != CPU_LEVEL_WHICH) {
        errno = EINVAL;
        return -1;
    }
    return sched_setaffinity(id == -1 ? 0 : (pid_t)id, size, mask);
}

static inline int __attribute__((__unused__))
cpuset_getaffinity(cpulevel_t level, cpuwhich_t which, int64_t id, size_t size, cpuset_t *mask)
{
    (void)which;
    if (level != CPU_LEVEL_WHICH) {
        errno = EINVAL;
        return -1;
    }
    return sched_getaffinity(id == -1 ? 0 : (pid_t)id, size, mask);
}

#endif

/* A kernel without capability mode: what such a FreeBSD says. */
#ifndef KCOVBOX_FREEBSD_SYS_CAPSICUM_H
#define KCOVBOX_FREEBSD_SYS_CAPSICUM_H

#include <errno.h>
#include <stdbool.h>

static inline int __attribute__((__unused__)) cap_enter(void)
{
    errno = ENOSYS;
    return -1;
}

static inline bool __attribute__((__unused__)) cap_sandboxed(void)
{
    return false;
}

#endif

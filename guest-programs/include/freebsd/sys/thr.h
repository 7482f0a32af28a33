/* The number of the calling thread, as FreeBSD asks for it. */
#ifndef KCOVBOX_FREEBSD_SYS_THR_H
#define KCOVBOX_FREEBSD_SYS_THR_H

#include <unistd.h>

static inline int __attribute__((__unused__)) thr_self(long *id)
{
    *id = gettid();
    return 0;
}

#endif

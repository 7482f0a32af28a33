/* The number of the calling thread, as NetBSD asks for it. */
#ifndef KCOVBOX_NETBSD_LWP_H
#define KCOVBOX_NETBSD_LWP_H

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

typedef int lwpid_t;

static inline lwpid_t __attribute__((__unused__)) _lwp_self(void)
{
    return gettid();
}

#endif

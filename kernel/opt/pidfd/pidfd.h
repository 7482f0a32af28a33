/* pidfd.h: descriptors of processes. */
#pragma once

#include "abi/errno.h"
#include "proc.h"

#ifdef CONFIG_PIDFD
struct proc *pidfd_proc(int fd, bool *nonblock); /* one reference, or NULL: not a pidfd */
#else
static inline struct proc *pidfd_proc(int fd, bool *nonblock)
{
    *nonblock = false;
    return NULL;
}
#endif

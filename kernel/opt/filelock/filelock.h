/* filelock.h: advisory record locks (fcntl) and whole-file locks (flock). */
#pragma once

#include "abi/errno.h"
#include "file.h"

#ifdef CONFIG_FILELOCK
/* op: 0 get, 1 set, 2 set and wait; lock_addr: user struct flock */
long filelock_fcntl(struct file *f, int op, u64 lock_addr);
void filelock_release_file(struct file *f);               /* last reference: its flock locks */
void filelock_release_owner(struct file *f, void *owner); /* any close: owner's record locks */
#else
static inline long filelock_fcntl(struct file *f, int op, u64 lock_addr)
{
    return -EINVAL;
}
static inline void filelock_release_file(struct file *f) {}
static inline void filelock_release_owner(struct file *f, void *owner) {}
#endif

/* filelock.h: advisory record locks (fcntl) and whole-file locks (flock). */
#pragma once

#include "file.h"

/* op: 0 get, 1 set, 2 set and wait; lock_addr: user struct flock */
long filelock_fcntl(struct file *f, int op, u64 lock_addr);
long filelock_flock(struct file *f, int op);
void filelock_release_file(struct file *f);               /* last reference: its flock locks */
void filelock_release_owner(struct file *f, void *owner); /* any close: owner's record locks */

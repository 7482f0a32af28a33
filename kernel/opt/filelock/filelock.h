/* filelock.h: advisory record locks (fcntl) and whole-file locks (flock). */
#pragma once

#include "abi/errno.h"
#include "file.h"
#include "optional.h"

/* op: 0 get, 1 set, 2 set and wait; lock_addr: user struct flock */
OPTIONAL(CONFIG_FILELOCK, long, filelock_fcntl, (struct file *f, int op, u64 lock_addr), -EINVAL)
/* Last reference: its flock locks. */
OPTIONAL(CONFIG_FILELOCK, void, filelock_release_file, (struct file *f))
/* Any close: owner's record locks. */
OPTIONAL(CONFIG_FILELOCK, void, filelock_release_owner, (struct file *f, void *owner))

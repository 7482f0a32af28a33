/* fcntl.h: record locks by fcntl(2). */
#pragma once

#include "opt/filelock/filelock.h"

/* op: 0 get, 1 set, 2 set and wait; lock_addr: user struct flock */
OPTIONAL(CONFIG_FILELOCK, long, filelock_fcntl, (struct file *f, int op, u64 lock_addr), -EINVAL)

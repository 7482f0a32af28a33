/* fifo.h: pipes of another size. */
#pragma once

#include "abi/errno.h"
#include "file.h"
#include "optional.h"

#define PIPE_CAPACITY_MAX 1048576

/* F_SETPIPE_SZ, F_GETPIPE_SZ. */
OPTIONAL(CONFIG_FIFO, long, pipe_fcntl_size, (struct file *f, bool set, u64 size), -EINVAL)

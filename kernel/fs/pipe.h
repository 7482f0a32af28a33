/* pipe.h: pipes and FIFOs. */
#pragma once

#include "fs.h"

extern const struct file_ops fifo_fops;
long pipe_fcntl_size(struct file *f, bool set, u64 size); /* F_SETPIPE_SZ, F_GETPIPE_SZ */

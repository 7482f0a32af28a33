/* pipe.h: pipes and FIFOs. */
#pragma once

#include "fs.h"

extern const struct file_ops fifo_fops;
long pipe_fcntl_size(struct file *f, bool set, u64 size); /* F_SETPIPE_SZ, F_GETPIPE_SZ */

/*
 * For splice(2), on files for which pipe_is() is true. pipe_hold copies up to n of the first bytes
 * and keeps readers away until pipe_unhold removes those that were used; 0 means the end of the
 * stream, without a hold. pipe_push appends all bytes; pipe_wait_room waits, and returns how many
 * should be appended at most.
 */
bool pipe_is(const struct file *f);
i64 pipe_hold(struct file *f, char *buf, u64 n, bool nonblock);
void pipe_unhold(struct file *f, u64 used);
i64 pipe_push(struct file *f, const char *buf, u64 n);
i64 pipe_wait_room(struct file *f, bool nonblock);

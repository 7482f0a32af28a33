/* pipe.h: pipes and FIFOs. */
#pragma once

#include "fs.h"

extern const struct file_ops fifo_fops;
long pipe_fcntl_size(struct file *f, bool set, u64 size); /* F_SETPIPE_SZ, F_GETPIPE_SZ */

/*
 * For splice(2), on files that pipe_is() knows. pipe_hold copies the first bytes and keeps readers
 * away until pipe_unhold says how many of them are used up; 0 is the end of the stream, and nothing
 * is held then. pipe_push appends everything, pipe_wait_room tells how much should be appended.
 */
bool pipe_is(const struct file *f);
i64 pipe_hold(struct file *f, char *buf, u64 n, bool nonblock);
void pipe_unhold(struct file *f, u64 used);
i64 pipe_push(struct file *f, const char *buf, u64 n);
i64 pipe_wait_room(struct file *f, bool nonblock);

/* pipe_ends.h: pipes as source and destination of splice(2). */
#pragma once

#include "fs/pipe.h"

/*
 * On files for which pipe_is() is true. pipe_hold copies up to n of the first bytes
 * and keeps readers away until pipe_unhold removes those that were used; 0 means the end of the
 * stream, without a hold. pipe_push appends all bytes; pipe_wait_room waits, and returns how many
 * should be appended at most.
 */
bool pipe_is(const struct file *f);
i64 pipe_hold(struct file *f, char *buf, u64 n, bool nonblock);
void pipe_unhold(struct file *f, u64 used);
i64 pipe_push(struct file *f, const char *buf, u64 n);
i64 pipe_wait_room(struct file *f, bool nonblock);

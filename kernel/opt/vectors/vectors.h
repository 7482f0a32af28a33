/* vectors.h: several buffers of user memory as one. */
#pragma once

#include "file.h"

/* Copies up to IOV_MAX iovecs in; the caller frees *storage after the last use of it. */
#define IOV_MAX 1024
int iter_from_user_iov(struct iter *it, u64 user_iov, u64 count, struct iovec **storage);
/* One read or write, at pos if positioned. */
long transfer_vector(u64 fd, u64 iov, u64 count, i64 pos, bool positioned, bool write);

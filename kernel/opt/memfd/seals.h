/* seals.h: the seals of a file. */
#pragma once

#include "opt/memfd/memfd.h"

/* inode->seals: the bits of F_ADD_SEALS, and whether the inode can have any. */
#define SEAL_SEAL         1u
#define SEAL_SHRINK       2u
#define SEAL_GROW         4u
#define SEAL_WRITE        8u
#define SEAL_FUTURE_WRITE 16u
#define SEALS_ALL         31u
#define SEALS_KNOWN       (1u << 31)

struct super *memfd_super(void); /* for files without a directory; NULL: no memory */

/* F_ADD_SEALS, F_GET_SEALS. */
OPTIONAL(CONFIG_MEMFD, long, memfd_fcntl, (struct file *f, int cmd, u64 arg), -EINVAL)
/* 0 or -EPERM, under inode->lock. */
OPTIONAL(CONFIG_MEMFD, int, seals_allow_size, (const struct inode *inode, i64 size), 0)

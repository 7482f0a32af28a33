/* memfd.h: seals of files in memory, and the checks that writing, truncating and mapping make. */
#pragma once

#include "abi/errno.h"
#include "fs.h"
#include "optional.h"

/* F_ADD_SEALS, F_GET_SEALS. */
OPTIONAL(CONFIG_MEMFD, long, memfd_fcntl, (struct file *f, int cmd, u64 arg), -EINVAL)
/* inode->seals of a file in tmpfs. */
OPTIONAL(CONFIG_MEMFD, u32, seals_of_new, (u32 mode), 0)
/* 0 or -EPERM, under inode->lock. */
OPTIONAL(CONFIG_MEMFD, int, seals_allow_write, (const struct inode *inode, i64 end), 0)
OPTIONAL(CONFIG_MEMFD, int, seals_allow_size, (const struct inode *inode, i64 size), 0)
/* May lower max_prot. */
OPTIONAL(CONFIG_MEMFD, int, seals_allow_mapping, (const struct inode *inode, struct vma *vma), 0)

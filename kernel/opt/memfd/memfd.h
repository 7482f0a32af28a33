/* memfd.h: seals of files in memory, and the checks that writing, truncating and mapping make. */
#pragma once

#include "abi/errno.h"
#include "fs.h"
#include "optional.h"

/* Of a file in tmpfs. */
OPTIONAL(CONFIG_MEMFD, void, seals_init, (struct inode *inode))
/* 0 or -EPERM, under inode->lock. */
OPTIONAL(CONFIG_MEMFD, int, seals_allow_write, (const struct inode *inode, i64 end), 0)
/* May lower max_prot. */
OPTIONAL(CONFIG_MEMFD, int, seals_allow_mapping, (const struct inode *inode, struct vma *vma), 0)

/* memfd.h: seals of files in memory, and the checks that writing, truncating and mapping make. */
#pragma once

#include "abi/errno.h"
#include "fs.h"

/* inode->seals: the bits of F_ADD_SEALS, and whether the inode can have any. */
#define SEAL_SEAL         1u
#define SEAL_SHRINK       2u
#define SEAL_GROW         4u
#define SEAL_WRITE        8u
#define SEAL_FUTURE_WRITE 16u
#define SEALS_ALL         31u
#define SEALS_KNOWN       (1u << 31)

struct super *memfd_super(void); /* for files without a directory; NULL: no memory */
#ifdef CONFIG_MEMFD
long memfd_fcntl(struct file *f, int cmd, u64 arg); /* F_ADD_SEALS, F_GET_SEALS */
/* 0 or -EPERM, under inode->lock. */
int seals_allow_write(const struct inode *inode, i64 end);
int seals_allow_size(const struct inode *inode, i64 size);
int seals_allow_mapping(const struct inode *inode, struct vma *vma); /* may lower max_prot */
#else
static inline long memfd_fcntl(struct file *f, int cmd, u64 arg)
{
    return -EINVAL;
}
static inline int seals_allow_write(const struct inode *inode, i64 end)
{
    return 0;
}
static inline int seals_allow_size(const struct inode *inode, i64 size)
{
    return 0;
}
static inline int seals_allow_mapping(const struct inode *inode, struct vma *vma)
{
    return 0;
}
#endif

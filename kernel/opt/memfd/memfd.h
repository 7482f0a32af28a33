/* memfd.h: seals of files in memory, and the checks that writing, truncating and mapping make. */
#pragma once

#include "abi/errno.h"
#include "fs.h"

#ifdef CONFIG_MEMFD
long memfd_fcntl(struct file *f, int cmd, u64 arg); /* F_ADD_SEALS, F_GET_SEALS */
u32 seals_of_new(u32 mode);                         /* inode->seals of a file in tmpfs */
/* 0 or -EPERM, under inode->lock. */
int seals_allow_write(const struct inode *inode, i64 end);
int seals_allow_size(const struct inode *inode, i64 size);
int seals_allow_mapping(const struct inode *inode, struct vma *vma); /* may lower max_prot */
#else
static inline long memfd_fcntl(struct file *f, int cmd, u64 arg)
{
    return -EINVAL;
}
static inline u32 seals_of_new(u32 mode)
{
    return 0;
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

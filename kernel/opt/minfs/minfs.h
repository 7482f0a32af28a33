/* minfs.h: shared by the two files of minfs: mounted state, block and inode allocation. */
#pragma once

#include "abi/minfs.h"
#include "opt/block/block.h"
#include "fs.h"

struct minfs {
    struct block_device *bd;
    struct minfs_super disk; /* (lock) */
    struct mutex lock;       /* bitmaps, block pointers, the list of inodes in memory */
    struct inode *inodes;    /* (lock) inodes in memory, through hash_next */
    struct super *sb;
    bool read_only;
};

struct mnode {  /* inode->priv */
    u32 parent; /* directories: inode number of "..", (fs_lock) */
    u32 direct[MINFS_DIRECT], indirect, double_indirect; /* (fs->lock) */
};

static inline struct minfs *minfs_of(const struct inode *inode)
{
    return inode->sb->priv;
}

/* minfs_disk.c */
/* A directory has no holes, so it is at most as large as the disk. */
i64 minfs_size_max(const struct minfs *fs, u32 mode);
int minfs_iget(struct minfs *fs, u32 ino, struct inode **out);
int minfs_write_inode(struct inode *inode);
int minfs_new_inode(struct minfs *fs, u32 mode, struct inode **out);
void minfs_evict(struct inode *inode);
/* The disk block of a file's block at index; 0: a hole, which make fills. */
int minfs_map(struct inode *inode, u64 index, bool make, u32 *block);
int minfs_truncate(struct inode *inode, i64 size);
int minfs_sync(struct super *sb);

extern const struct inode_ops minfs_ops;

/* tmpfs.h: the parts of tmpfs on which devfs, debugfs and devpts are built; file operations. */
#pragma once

#include "fs.h"
#include "optional.h"

extern const struct inode_ops tmpfs_ops;

#define TMPFS_MAGIC 0x01021994

/* A super block with an empty root directory; a mount of it may be repeated. */
struct super *tmpfs_super(u32 magic, u32 root_mode);
/* opt/mounts: gives the super block its operations. */
OPTIONAL(CONFIG_MOUNTS, void, tmpfs_mountable, (struct super *sb))
/* An inode of the given type that is in no directory yet; one reference. */
struct inode *tmpfs_inode(struct super *sb, u32 mode);

/* Limits a tmpfs from now on to half of RAM, or to its present contents if those are larger. */
OPTIONAL(CONFIG_MOUNTS, void, tmpfs_limit, (struct super *sb))

/* regular.c: file operations of regular files, directories, FIFOs, device nodes. */
const struct file_ops *fops_for_mode(u32 mode);

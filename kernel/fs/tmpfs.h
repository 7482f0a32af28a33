/* tmpfs.h: the parts of tmpfs on which devfs, debugfs and devpts are built; file operations. */
#pragma once

#include "fs.h"
#include "optional.h"

extern struct fs_type tmpfs_type, devfs_type, debugfs_type;
extern const struct inode_ops tmpfs_ops;

/* A super block with an empty root directory; a mount of it may be repeated. */
struct super *tmpfs_super(const struct fs_type *type, u32 magic, u32 root_mode);
/* An inode of the given type that is in no directory yet; one reference. */
struct inode *tmpfs_inode(struct super *sb, u32 mode);

/* The mount options of a tmpfs. */
struct tmpfs_options {
    u64 pages, inodes; /* limits; 0: none */
    u32 mode, uid, gid;
};
/* opt/mounts: changes them as "size=64m,mode=0755,..." says; -EINVAL for what Linux refuses. */
OPTIONAL(CONFIG_MOUNTS, int, tmpfs_parse, (const char *text, struct tmpfs_options *o),
         *text ? -EINVAL : 0)
/* Limits a tmpfs from now on to half of RAM, or to its present contents if those are larger. */
void tmpfs_limit(struct super *sb);

/* regular.c: file operations of regular files, directories, FIFOs, device nodes. */
const struct file_ops *fops_for_mode(u32 mode);

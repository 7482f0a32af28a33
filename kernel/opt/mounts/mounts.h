/* mounts.h: types of file systems, and the table of mounts. */
#pragma once

#include "fs.h"

struct statfs64;

struct super_ops {
    int (*statfs)(struct super *sb, struct statfs64 *out);
    int (*sync)(struct super *sb);
    void (*umount)(struct super *sb);
};

struct fs_type {
    const char *name;
    bool nodev; /* takes no block device */
    /*
     * Makes (or, for single-instance file systems, finds) the super block; root is referenced.
     * data: the options of mount(2), "" without any.
     */
    int (*mount)(const struct fs_type *type, const char *source, u32 flags, const char *data,
                 struct super **out);
    struct fs_type *next;
};

struct mount {
    int refs;             /* atomic: files, cwds and the table itself */
    struct mount *parent; /* 0: the root mount */
    struct inode *covered;
    struct super *sb;
    char *source, *where; /* as /proc/mounts shows them; owned */
    u32 flags;
    struct mount *next; /* (fs_lock) */
};

extern struct mount *mounts; /* oldest first; (fs_lock) */
extern struct fs_type tmpfs_type;

void fs_register(struct fs_type *type);
const struct fs_type *fs_find_type(const char *name); /* or 0 */
const struct fs_type *fs_type_list(void);
/* where: the absolute path of at, for /proc/mounts. */
int fs_mount_at(const struct path *at, const char *source, const char *where, const char *type,
                u32 flags, const char *data);

/* The mount options of a tmpfs. */
struct tmpfs_options {
    u64 pages, inodes; /* limits; 0: none */
    u32 mode, uid, gid;
};
/* Changes them as "size=64m,mode=0755,..." says; -EINVAL for what Linux refuses. */
int tmpfs_parse(const char *text, struct tmpfs_options *o);

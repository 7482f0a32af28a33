/* tmpfs_node.h: the inside of a tmpfs, for tmpfs.c and the options that use it. */
#pragma once

#include "abi/errno.h"
#include "fs/tmpfs.h"
#include "optional.h"

struct entry {
    struct entry *next;
    struct inode *inode;
    i64 number; /* position in listings, from 2 */
    char name[];
};

/* opt/xattr. Zeroed: none. Callers hold the inode's lock. */
struct xattrs {
    struct xattr *first; /* sorted by name */
    u64 bytes;           /* names and values */
};

struct node {
    struct inode *parent;  /* directories: not counted */
    struct entry *entries; /* directories: oldest first */
    i64 next_number;
    char *target; /* symbolic links; owned */
    struct xattrs xattrs;
};

static inline struct node *node_of(const struct inode *inode)
{
    return inode->priv;
}

struct entry **tmpfs_find(struct inode *dir, const char *name);
int tmpfs_add(struct inode *dir, const char *name, struct inode *inode);
void tmpfs_remove(struct inode *dir, struct entry **at);
int tmpfs_create(struct inode *dir, const char *name, u32 mode, u64 rdev, struct inode **out);
int tmpfs_unlink(struct inode *dir, const char *name, struct inode *inode);

OPTIONAL(CONFIG_XATTR, void, xattrs_free, (struct xattrs *all))
OPTIONAL(CONFIG_TRUNCATE, int, tmpfs_truncate, (struct inode *inode, i64 size), -EINVAL)

/* opt/directories, opt/attributes, opt/links, opt/xattr */
struct xattrs *tmpfs_xattrs(struct inode *inode);
int tmpfs_readdir(struct inode *dir, i64 *pos, struct dir_sink *sink);
bool tmpfs_is_empty(struct inode *dir);
int tmpfs_name(struct inode *dir, char *buf);
int tmpfs_symlink(struct inode *dir, const char *name, const char *target);
int tmpfs_link(struct inode *dir, const char *name, struct inode *inode);
i64 tmpfs_readlink(struct inode *inode, char *buf, u64 n);
int tmpfs_rename(struct inode *from, const char *old, struct inode *inode, struct inode *to,
                 const char *new, struct inode *target);
int tmpfs_exchange(struct inode *from, const char *old, struct inode *inode, struct inode *to,
                   const char *new, struct inode *target);

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

struct node {
    struct inode *parent;  /* directories: not counted */
    struct entry *entries; /* directories: oldest first */
    i64 next_number;
#include "config.tmpfs_node" /* of options: tmpfs_node.def */
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

OPTIONAL(CONFIG_LINKS,
         void, tmpfs_free_link, (struct node *node))
OPTIONAL(CONFIG_XATTR, void, tmpfs_free_xattrs, (struct node *node))
OPTIONAL(CONFIG_TRUNCATE, int, tmpfs_truncate, (struct inode *inode, i64 size), -EINVAL)
#include "config.tmpfs_calls" /* of options: tmpfs_calls.def, and tmpfs_ops.def for tmpfs_ops */

/*
 * tmpfs.c: a file system in memory: the root, /tmp, and the base of devfs, debugfs and devpts.
 *
 * A directory is a list of entries in creation order. getdents64 continues at an entry's number,
 * which is never used again, so entries may come and go during a listing. Contents of regular files
 * are in the page cache only; a hole reads as zeros.
 *
 * References: an entry holds one of its inode. The parent field of a directory is not counted: a
 * child cannot outlive its parent, because only empty directories are removed. A removed directory
 * has parent == NULL.
 */
#include "tmpfs_node.h"
#include "alloc.h"
#include "abi/errno.h"
#include "klib.h"
#include "opt/memfd/memfd.h"
#include "proc.h"

struct entry **tmpfs_find(struct inode *dir, const char *name)
{
    struct entry **e = &node_of(dir)->entries;

    while (*e && strcmp((*e)->name, name))
        e = &(*e)->next;
    return e;
}

int tmpfs_add(struct inode *dir, const char *name, struct inode *inode)
{
    struct node *node = node_of(dir);
    struct entry **last = &node->entries;
    u64 len = strlen(name);
    struct entry *e = kmalloc(sizeof(*e) + len + 1);

    if (!e)
        return -ENOSPC;
    memcpy(e->name, name, len + 1);
    e->inode = inode_get(inode);
    e->number = node->next_number++;
    e->next = NULL;
    while (*last)
        last = &(*last)->next;
    *last = e;
    if (S_ISDIR(inode->mode)) {
        node_of(inode)->parent = dir;
        dir->nlink++;
    }
    inode_touch(dir, true);
    return 0;
}

void tmpfs_remove(struct inode *dir, struct entry **at)
{
    struct entry *e = *at;

    *at = e->next;
    if (S_ISDIR(e->inode->mode)) {
        dir->nlink--;
        if (node_of(e->inode)->parent == dir)
            node_of(e->inode)->parent = NULL;
    }
    inode_touch(dir, true);
    inode_put(e->inode);
    kfree(e);
}

struct inode *tmpfs_inode(struct super *sb, u32 mode)
{
    struct inode *inode;
    struct node *node;

    if (!budget_take(&sb->inodes, 1))
        return NULL;
    inode = inode_new(sb, mode);
    node = inode ? kzalloc(sizeof(*node)) : NULL;
    if (!node) {
        kfree(inode);
        budget_give(&sb->inodes, 1);
        return NULL;
    }
    node->next_number = 2;
    seals_init(inode);
    inode->priv = node;
    inode->ops = &tmpfs_ops;
    inode->fops = fops_for_mode(mode);
    if (S_ISDIR(mode))
        inode->nlink = 2;
    return inode;
}

static int tmpfs_lookup(struct inode *dir, const char *name, struct inode **out)
{
    struct entry *e = *tmpfs_find(dir, name);

    if (!e)
        return -ENOENT;
    *out = inode_get(e->inode);
    return 0;
}

static struct inode *tmpfs_parent(struct inode *dir)
{
    struct inode *parent = node_of(dir)->parent;

    return parent ? inode_get(parent) : NULL;
}

int tmpfs_create(struct inode *dir, const char *name, u32 mode, u64 rdev, struct inode **out)
{
    struct inode *inode;
    int err;

    if (S_ISDIR(dir->mode) && dir->nlink == 0)
        return -ENOENT; /* removed, but still some process's current directory */
    inode = tmpfs_inode(dir->sb, mode);
    if (!inode)
        return -ENOSPC;
    inode->rdev = rdev;
    inode_own(inode, dir);
    err = tmpfs_add(dir, name, inode);
    if (err)
        inode_put(inode);
    else
        *out = inode;
    return err;
}

int tmpfs_unlink(struct inode *dir, const char *name, struct inode *inode)
{
    inode->nlink = S_ISDIR(inode->mode) ? 0 : inode->nlink - 1;
    inode_touch(inode, false);
    tmpfs_remove(dir, tmpfs_find(dir, name));
    return 0;
}

static void tmpfs_evict(struct inode *inode)
{
    struct node *node = node_of(inode);

    while (node->entries)
        tmpfs_remove(inode, &node->entries);
    tmpfs_free_link(node);
    tmpfs_free_xattrs(node);
    kfree(node);
    budget_give(&inode->sb->inodes, 1);
}

const struct inode_ops tmpfs_ops = {
    .lookup = tmpfs_lookup,
    .parent = tmpfs_parent,
    .create = tmpfs_create,
    .unlink = tmpfs_unlink,
    .truncate = tmpfs_truncate,
    .evict = tmpfs_evict,
#include "config.tmpfs_ops" /* of options: tmpfs_ops.def */
};

struct super *tmpfs_super(u32 magic, u32 root_mode)
{
    static u64 next_dev = 16;
    struct super *sb = kzalloc(sizeof(*sb));

    if (!sb)
        return NULL;
    sb->refs = 1;
    tmpfs_mountable(sb);
    sb->magic = magic;
    sb->dev = atomic_add(&next_dev, 1);
    sb->root = tmpfs_inode(sb, S_IFDIR | root_mode);
    if (!sb->root) {
        kfree(sb);
        return NULL;
    }
    return sb;
}

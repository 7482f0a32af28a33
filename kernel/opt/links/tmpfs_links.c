/* tmpfs_links.c: links in a tmpfs. */
#include "alloc.h"
#include "fs/tmpfs_node.h"
#include "klib.h"

int tmpfs_symlink(struct inode *dir, const char *name, const char *target)
{
    struct inode *inode;
    int err = tmpfs_create(dir, name, S_IFLNK | 0777, 0, &inode);

    if (err)
        return err;
    node_of(inode)->target = kstrdup(target);
    inode->size = strlen(target);
    if (!node_of(inode)->target) {
        tmpfs_remove(dir, tmpfs_find(dir, name));
        err = -ENOSPC;
    }
    inode_put(inode);
    return err;
}

int tmpfs_link(struct inode *dir, const char *name, struct inode *inode)
{
    int err = dir->nlink ? tmpfs_add(dir, name, inode) : -ENOENT;

    if (!err) {
        inode->nlink++;
        inode_touch(inode, false);
    }
    return err;
}

i64 tmpfs_readlink(struct inode *inode, char *buf, u64 n)
{
    u64 len = MIN((u64)inode->size, n);

    memcpy(buf, node_of(inode)->target, len);
    return len;
}

void tmpfs_free_link(struct node *node)
{
    kfree(node->target);
}

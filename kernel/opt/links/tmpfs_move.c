/* tmpfs_move.c: moving names of a tmpfs. */
#include "fs/tmpfs_node.h"
#include "abi/errno.h"

int tmpfs_rename(struct inode *from, const char *old, struct inode *inode, struct inode *to,
                 const char *new, struct inode *target)
{
    int err;

    if (!to->nlink)
        return -ENOENT;
    err = tmpfs_add(to, new, inode); /* before the target goes: without memory it must stay */
    if (err)
        return err;
    if (target) /* its entry is found first, as it is older */
        tmpfs_unlink(to, new, target);
    /* for a moment the inode has two entries: from == to clears parent when the old one goes */
    tmpfs_remove(from, tmpfs_find(from, old));
    if (S_ISDIR(inode->mode))
        node_of(inode)->parent = to;
    inode_touch(inode, false);
    return 0;
}

/* The entry gets another inode, together with the reference that the other entry held. */
static void put_into(struct inode *dir, struct entry *e, struct inode *inode)
{
    if (S_ISDIR(e->inode->mode))
        dir->nlink--;
    e->inode = inode;
    if (S_ISDIR(inode->mode)) {
        dir->nlink++;
        node_of(inode)->parent = dir;
    }
    inode_touch(dir, true);
    inode_touch(inode, false);
}

int tmpfs_exchange(struct inode *from, const char *old, struct inode *inode, struct inode *to,
                   const char *new, struct inode *target)
{
    struct entry *a = *tmpfs_find(from, old), *b = *tmpfs_find(to, new);

    put_into(from, a, target);
    put_into(to, b, inode);
    return 0;
}

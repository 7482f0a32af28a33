/* tmpfs_xattrs.c: the attributes of a file in tmpfs. */
#include "opt/xattr/store.h"

/* Only on a tmpfs proper: devfs, debugfs and devpts have no attributes. */
struct xattrs *tmpfs_xattrs(struct inode *inode)
{
    return inode->sb->magic == TMPFS_MAGIC ? &node_of(inode)->xattrs : NULL;
}

void tmpfs_free_xattrs(struct node *node)
{
    xattrs_free(&node->xattrs);
}

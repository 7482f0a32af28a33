/* tmpfile.c: open(2) with O_TMPFILE. */
#include "abi/errno.h"
#include "abi/fcntl.h"
#include "opt/paths/paths.h"

/* Makes a file without a name in the directory `at` (O_TMPFILE), which becomes the new file. */
int make_tmpfile(struct path *at, u32 mode)
{
    struct inode *inode;
    int err;

    if (!at->inode->ops->create || !at->inode->ops->unlink)
        return -EOPNOTSUPP;
    mutex_lock(&fs_lock);
    err = at->inode->ops->create(at->inode, "#tmpfile", S_IFREG | mode, 0, &inode);
    if (!err)
        at->inode->ops->unlink(at->inode, "#tmpfile", inode);
    mutex_unlock(&fs_lock);
    if (err)
        return err;
    inode_put(at->inode);
    at->inode = inode;
    return 0;
}

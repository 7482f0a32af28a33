/* fsync.c: the operation fsync of files and directories. */
#include "opt/mounts/mounts.h"
#include "opt/block/flush.h"
#include "fs/open.h"

int regular_fsync(struct file *file)
{
    int err = page_cache_flush(file->inode);

    if (!err && file->inode->ops->setattr)
        err = file->inode->ops->setattr(file->inode);
    if (!err && file->inode->sb->ops->sync)
        err = file->inode->sb->ops->sync(file->inode->sb);
    return err;
}

int dir_fsync(struct file *file)
{
    return file->inode->sb->ops->sync ? file->inode->sb->ops->sync(file->inode->sb) : 0;
}

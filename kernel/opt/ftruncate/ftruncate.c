/* ftruncate.c: truncate(2) and ftruncate(2). */
#include "abi/errno.h"
#include "opt/pagetree/pagetree.h"
#include "opt/memfd/seals.h"
#include "opt/ftruncate/ftruncate.h"
#include "fs/open.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"

#define RLIMIT_FSIZE 1

long truncate_inode(struct inode *inode, i64 size)
{
    long err;

    if (size < 0)
        return -EINVAL;
    if (S_ISDIR(inode->mode))
        return -EISDIR;
    if (!S_ISREG(inode->mode) || !inode->ops->truncate)
        return -EINVAL;
    if ((u64)size > rlimit_get(RLIMIT_FSIZE)) {
        signal_send_thread(current, SIGXFSZ, NULL);
        return -EFBIG;
    }
    if (size > inode_max_bytes(inode))
        return -EFBIG;
    mutex_lock(&inode->lock);
    err = seals_allow_size(inode, size);
    if (!err)
        err = inode->ops->truncate(inode, size);
    mutex_unlock(&inode->lock);
    if (!err)
        notify_inode(inode, NOTIFY_MODIFY | NOTIFY_TRUNCATE);
    return err;
}

long sys_ftruncate(u64 fd, u64 size)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = f->fflags & FF_WRITE ? truncate_inode(f->inode, size) : -EINVAL;
    if (!err)
        notify_dir_of(f, NOTIFY_MODIFY);
    file_put(f);
    return err;
}

long sys_truncate(u64 path, u64 size)
{
    struct path at;
    long err = at_walk(AT_FDCWD, path, 0, WALK_FOLLOW, &at);

    if (err)
        return err;
    err = atomic_load(&at.inode->write_count) < 0 ? -ETXTBSY : inode_access(at.inode, 2);
    if (!err)
        err = truncate_inode(at.inode, size);
    path_put(&at);
    if (!err)
        notify_dir_of_path(AT_FDCWD, path, 0, NOTIFY_MODIFY);
    return err;
}

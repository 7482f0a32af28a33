/* sync.c: fsync(2) and its relatives. */
#include "abi/errno.h"
#include "opt/block/flush.h"
#include "opt/mounts/mounts.h"
#include "syscall.h"

static int sync_all(void)
{
    int err = 0;

    mutex_lock(&fs_lock);
    for (struct mount *m = mounts; m && !err; m = m->next)
        if (m->sb->ops && m->sb->ops->sync)
            err = m->sb->ops->sync(m->sb);
    mutex_unlock(&fs_lock);
    return err;
}

long sys_fsync(u64 fd)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = f->ops->fsync ? f->ops->fsync(f) : -EINVAL;
    file_put(f);
    return err;
}

long sys_fdatasync(u64 fd)
{
    return sys_fsync(fd);
}

long sys_sync(void)
{
    sync_all();
    return 0;
}

long sys_syncfs(u64 fd)
{
    struct file *f = fd_get((int)fd);

    if (!f)
        return -EBADF;
    file_put(f);
    return sync_all();
}

/* There are no background writes to start or to wait for: any flag writes all dirty pages. */
long sys_sync_file_range(u64 fd, u64 offset, u64 count, u64 flags)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    if (flags & ~7UL || (i64)offset < 0 || (i64)count < 0)
        err = -EINVAL;
    else
        err = f->fflags & FF_STREAM ? -ESPIPE : flags ? page_cache_flush(f->inode) : 0;
    file_put(f);
    return err;
}

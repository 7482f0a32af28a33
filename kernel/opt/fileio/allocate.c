/*
 * allocate.c: fallocate(2), and the calls that give advice or start writing, which have little to
 * do on files in memory.
 */
#include "abi/errno.h"
#include "opt/ftruncate/ftruncate.h"
#include "opt/fileio/holes.h"
#include "fs/open.h"
#include "fs.h"
#include "opt/memfd/memfd.h"
#include "syscall.h"

#define FALLOC_KEEP_SIZE  1
#define FALLOC_PUNCH_HOLE 2
#define FALLOC_ZERO_RANGE 16

/* Space is never reserved, so a plain allocation at most changes the size. */
static long allocate(struct inode *inode, u64 mode, i64 from, i64 to)
{
    bool zeroes = mode & (FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE);
    long err = 0;

    if (mode & ~(u64)(FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE) ||
        mode == FALLOC_PUNCH_HOLE || (zeroes && (inode->ops->read_page || !inode->ops->truncate)))
        return -EOPNOTSUPP;
    if (zeroes) {
        mutex_lock(&inode->lock);
        err = seals_allow_write(inode, 0);
        if (!err)
            err = page_cache_punch(inode, from, to);
        mutex_unlock(&inode->lock);
    }
    if (!err && !(mode & FALLOC_KEEP_SIZE) && to > inode->size)
        err = truncate_inode(inode, to);
    return err;
}

long sys_fallocate(u64 fd, u64 mode, u64 offset, u64 len)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    if (!(f->fflags & FF_WRITE))
        err = -EBADF;
    else if ((i64)offset < 0 || (i64)len <= 0)
        err = -EINVAL;
    else if ((i64)(offset + len) < 0)
        err = -EFBIG;
    else if (!S_ISREG(f->inode->mode))
        err = f->fflags & FF_STREAM ? -ESPIPE : -ENODEV;
    else
        err = allocate(f->inode, mode, (i64)offset, (i64)(offset + len));
    file_put(f);
    return err;
}

long sys_readahead(u64 fd, u64 offset, u64 count)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = f->fflags & FF_READ ? (S_ISREG(f->inode->mode) ? 0 : -EINVAL) : -EBADF;
    file_put(f);
    return err;
}

/* Advice has no effect: the cache keeps every page. */
long sys_fadvise64(u64 fd, u64 offset, u64 len, u64 advice)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = f->fflags & FF_STREAM ? -ESPIPE : advice > 5 ? -EINVAL : 0;
    file_put(f);
    return err;
}

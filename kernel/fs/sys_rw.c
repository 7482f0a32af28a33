/*
 * sys_rw.c: the system calls that move bytes: read, write and their vector and positioned forms;
 * lseek.
 *
 * A system call holds its own reference of the file, so a close(2) by another thread in the middle
 * is harmless.
 */
#include "open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define SEEK_SET  0
#define SEEK_CUR  1
#define SEEK_END  2
#define SEEK_DATA 3
#define SEEK_HOLE 4

int iter_from_user_iov(struct iter *it, u64 user_iov, u64 count, struct iovec **storage)
{
    struct iovec *iov;

    *storage = NULL;
    if (count > IOV_MAX)
        return -EINVAL;
    iov = kmalloc(MAX(count, 1) * sizeof(*iov));
    if (!iov)
        return -ENOMEM;
    if (copyin(iov, user_iov, count * sizeof(*iov))) {
        kfree(iov);
        return -EFAULT;
    }
    it->left = 0;
    for (u64 i = 0; i < count; i++) {
        if ((i64)iov[i].len < 0) {
            kfree(iov);
            return -EINVAL;
        }
        iov[i].len = MIN(iov[i].len, MAX_RW - it->left);
        it->left += iov[i].len;
    }
    it->iov = iov;
    it->niov = count;
    it->skip = 0;
    it->kernel = false;
    *storage = iov;
    return 0;
}

/* One read or write, at pos if positioned (-ESPIPE for streams), else at the file's position. */
static long transfer(u64 fd, struct iter *it, i64 pos, bool positioned, bool write)
{
    struct file *f = fd_get((int)fd);
    i64 *at = positioned ? &pos : NULL;
    long n;

    if (!f)
        return -EBADF;
    if (positioned && pos < 0)
        n = -EINVAL;
    else if (positioned && f->fflags & FF_STREAM)
        n = -ESPIPE;
    else if (write)
        n = file_write(f, it, at);
    else
        n = file_read(f, it, at);
    file_put(f);
    return n;
}

long sys_read(u64 fd, u64 buf, u64 count)
{
    struct iter it;

    iter_user(&it, buf, MIN(count, MAX_RW));
    return transfer(fd, &it, 0, false, false);
}

long sys_write(u64 fd, u64 buf, u64 count)
{
    struct iter it;

    iter_user(&it, buf, MIN(count, MAX_RW));
    return transfer(fd, &it, 0, false, true);
}

long sys_pread64(u64 fd, u64 buf, u64 count, u64 pos)
{
    struct iter it;

    iter_user(&it, buf, MIN(count, MAX_RW));
    return transfer(fd, &it, pos, true, false);
}

long sys_pwrite64(u64 fd, u64 buf, u64 count, u64 pos)
{
    struct iter it;

    iter_user(&it, buf, MIN(count, MAX_RW));
    return transfer(fd, &it, pos, true, true);
}

long transfer_vector(u64 fd, u64 iov, u64 count, i64 pos, bool positioned, bool write)
{
    struct iovec *storage;
    struct iter it;
    long n = iter_from_user_iov(&it, iov, count, &storage);

    if (!n)
        n = transfer(fd, &it, pos, positioned, write);
    kfree(storage);
    return n;
}

long sys_readv(u64 fd, u64 iov, u64 count)
{
    return transfer_vector(fd, iov, count, 0, false, false);
}

long sys_writev(u64 fd, u64 iov, u64 count)
{
    return transfer_vector(fd, iov, count, 0, false, true);
}

static i64 seek_regular(struct file *f, i64 offset, int whence)
{
    i64 size = f->inode->size;

    switch (whence) {
    case SEEK_SET:
        offset = seek_from(0, offset);
        break;
    case SEEK_CUR:
        offset = seek_from(f->pos, offset);
        break;
    case SEEK_END:
        offset = seek_from(size, offset);
        break;
    case SEEK_DATA:
    case SEEK_HOLE:
        if (offset < 0 || offset >= size)
            return -ENXIO;
        offset = page_cache_seek(f->inode, offset, whence == SEEK_DATA);
        break;
    default:
        return -EINVAL;
    }
    if (offset < 0)
        return offset == -ENXIO && whence == SEEK_DATA ? -ENXIO : -EINVAL;
    return f->pos = offset;
}

long sys_lseek(u64 fd, u64 offset, u64 whence)
{
    struct file *f = fd_get((int)fd);
    long pos;

    if (!f)
        return -EBADF;
    if (f->fflags & FF_STREAM)
        pos = -ESPIPE;
    else {
        mutex_lock(&f->pos_lock);
        if (f->ops->lseek)
            pos = f->ops->lseek(f, offset, (int)whence);
        else
            pos = seek_regular(f, offset, (int)whence);
        mutex_unlock(&f->pos_lock);
    }
    file_put(f);
    return pos;
}

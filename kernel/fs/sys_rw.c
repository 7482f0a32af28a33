/*
 * sys_rw.c: the system calls that move bytes: read, write and their vector and positioned forms,
 * sendfile, copy_file_range, lseek, truncation and syncing.
 *
 * A system call holds its own reference of the file, so a close(2) by another thread in the middle
 * is harmless.
 */
#include "open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "opt/memfd/memfd.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define RLIMIT_FSIZE 1

#define SEEK_SET  0
#define SEEK_CUR  1
#define SEEK_END  2
#define SEEK_DATA 3
#define SEEK_HOLE 4

/* Linux moves at most this much in one call; it also keeps sums of iovecs from overflowing. */
#define MAX_RW 0x7ffff000UL

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

static long transfer_vector(u64 fd, u64 iov, u64 count, i64 pos, bool positioned, bool write)
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

long sys_preadv(u64 fd, u64 iov, u64 count, u64 pos, u64 high)
{
    return transfer_vector(fd, iov, count, pos, true, false);
}

long sys_pwritev(u64 fd, u64 iov, u64 count, u64 pos, u64 high)
{
    return transfer_vector(fd, iov, count, pos, true, true);
}

/*
 * The flags of preadv2 and pwritev2: RWF_HIPRI has no effect, RWF_DSYNC and RWF_SYNC flush
 * afterwards, RWF_APPEND writes at the end. RWF_NOWAIT is refused, because a file cannot tell in
 * advance whether it would wait.
 */
#define RWF_HIPRI  1
#define RWF_DSYNC  2
#define RWF_SYNC   4
#define RWF_APPEND 16

static long sync_after(u64 fd, long n, u64 flags)
{
    long err = n > 0 && flags & (RWF_DSYNC | RWF_SYNC) ? sys_fsync(fd) : 0;

    return err && err != -EINVAL ? err : n;
}

static i64 end_of(u64 fd)
{
    struct file *f = fd_get((int)fd);
    i64 end = f ? f->inode->size : 0;

    file_put(f);
    return end;
}

static long transfer_flags(u64 fd, u64 iov, u64 count, i64 pos, u64 flags, bool write)
{
    bool positioned = pos != -1;

    if (flags & ~(u64)(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | (write ? RWF_APPEND : 0)))
        return -EOPNOTSUPP;
    if (flags & RWF_APPEND) {
        pos = end_of(fd);
        positioned = true;
    }
    return sync_after(fd, transfer_vector(fd, iov, count, pos, positioned, write), flags);
}

long sys_preadv2(u64 fd, u64 iov, u64 count, u64 pos, u64 high, u64 flags)
{
    return transfer_flags(fd, iov, count, (i64)pos, flags, false);
}

long sys_pwritev2(u64 fd, u64 iov, u64 count, u64 pos, u64 high, u64 flags)
{
    return transfer_flags(fd, iov, count, (i64)pos, flags, true);
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

/*
 * Moves bytes between two open files through a page of kernel memory. A short write ends it; the
 * position of the input then goes back to the first byte that was not written.
 */
static long copy_between(struct file *in, i64 *in_pos, struct file *out, i64 *out_pos, u64 count)
{
    char *page = kmalloc(PAGE_SIZE);
    long done = 0, n = 0;

    if (!page)
        return -ENOMEM;
    count = MIN(count, MAX_RW);
    while ((u64)done < count) {
        struct iter it;
        i64 start = *in_pos, written;

        iter_kernel(&it, page, MIN(count - done, PAGE_SIZE));
        n = file_read(in, &it, in_pos);
        if (n <= 0)
            break;
        iter_kernel(&it, page, n);
        written = file_write(out, &it, out_pos);
        if (written < 0) {
            *in_pos = start;
            n = written;
            break;
        }
        done += written;
        if (written < n) {
            *in_pos = start + written;
            break;
        }
        if (signal_pending(current)) /* a copy of 2 GiB takes long */
            break;
        sched_relax();
    }
    kfree(page);
    return done ? done : n;
}

/*
 * in_addr, out_addr: user addresses of explicit offsets; 0: the files' own positions.
 */
static long copy_files(struct file *in, u64 in_addr, struct file *out, u64 out_addr, u64 count)
{
    i64 in_pos = in->pos, out_pos = out->pos;
    bool out_stream = out->fflags & FF_STREAM;
    long n;

    if (in_addr && get_user(in_pos, in_addr))
        return -EFAULT;
    if (out_addr && get_user(out_pos, out_addr))
        return -EFAULT;
    if (in_pos < 0 || out_pos < 0)
        return -EINVAL;
    n = copy_between(in, &in_pos, out, out_stream ? NULL : &out_pos, count);
    if (n < 0)
        return n;
    if (in_addr && put_user(in_addr, in_pos))
        return -EFAULT;
    if (out_addr && put_user(out_addr, out_pos))
        return -EFAULT;
    if (!in_addr)
        in->pos = in_pos;
    if (!out_addr && !out_stream)
        out->pos = out_pos;
    return n;
}

long sys_sendfile(u64 out_fd, u64 in_fd, u64 offset_addr, u64 count)
{
    struct file *in = fd_get((int)in_fd), *out = fd_get((int)out_fd);
    long n;

    if (!in || !out)
        n = -EBADF;
    else if (in->fflags & FF_STREAM || out->oflags & O_APPEND)
        n = -EINVAL;
    else
        n = copy_files(in, offset_addr, out, 0, count);
    file_put(in);
    file_put(out);
    return n;
}

long sys_copy_file_range(u64 in_fd, u64 in_off, u64 out_fd, u64 out_off, u64 count, u64 flags)
{
    struct file *in = fd_get((int)in_fd), *out = fd_get((int)out_fd);
    long n;

    if (!in || !out || out->oflags & O_APPEND)
        n = -EBADF;
    else if (flags || !S_ISREG(in->inode->mode) || !S_ISREG(out->inode->mode))
        n = -EINVAL;
    else
        n = copy_files(in, in_off, out, out_off, count);
    file_put(in);
    file_put(out);
    return n;
}

static long truncate_inode(struct inode *inode, i64 size)
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

#define FALLOC_KEEP_SIZE  1
#define FALLOC_PUNCH_HOLE 2
#define FALLOC_ZERO_RANGE 16

/* Space is never reserved, so a plain allocation at most changes the size. */
static long allocate(struct inode *inode, u64 mode, i64 from, i64 to)
{
    bool zeroes = mode & (FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE);
    long err = 0;

    if (mode & ~(u64)(FALLOC_KEEP_SIZE | FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE) ||
        mode == FALLOC_PUNCH_HOLE || (zeroes && !inode->ops->punch))
        return -EOPNOTSUPP;
    if (zeroes) {
        mutex_lock(&inode->lock);
        err = seals_allow_write(inode, 0);
        if (!err)
            err = inode->ops->punch(inode, from, to);
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
    fs_sync_all();
    return 0;
}

long sys_syncfs(u64 fd)
{
    struct file *f = fd_get((int)fd);

    if (!f)
        return -EBADF;
    file_put(f);
    return fs_sync_all();
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

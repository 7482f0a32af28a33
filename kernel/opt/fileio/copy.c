/* copy.c: sendfile(2) and copy_file_range(2): bytes from one open file to another. */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "fs/open.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

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
        BUG_NOTE(sendfile_write_only, ~in->fflags & FF_READ);
        if (BUG(sendfile_write_only) && in->ops->read)
            n = in->ops->read(in, &it, in_pos);
        else
            n = file_read(in, &it, in_pos);
        if (n <= 0)
            break;
        if (BUG(sendfile_overlong)) {
            BUG_NOTE_MORE(sendfile_overlong, MIN(count - done, PAGE_SIZE), (u64)n);
            n = MIN(count - done, PAGE_SIZE);
        }
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

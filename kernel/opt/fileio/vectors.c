/* vectors.c: reads and writes of several buffers at a position, with flags. */
#include "abi/errno.h"
#include "fs/open.h"
#include "fs.h"
#include "syscall.h"

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

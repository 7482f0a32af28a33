/*
 * sys_stat.c: the attributes of a file. struct stat is that of Linux on riscv64
 * (asm-generic/stat.h).
 */
#include "open.h"
#include "abi/errno.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"

struct stat {
    u64 dev;                               /*   0 */
    u64 ino;                               /*   8 */
    u32 mode, nlink;                       /*  16 */
    u32 uid, gid;                          /*  24 */
    u64 rdev, pad1;                        /*  32 */
    i64 size;                              /*  48 */
    i32 blksize, pad2;                     /*  56 */
    i64 blocks;                            /*  64: of 512 bytes */
    struct timespec64 atime, mtime, ctime; /* 72 */
    u32 unused[2];                         /* 120 */
};
_Static_assert(sizeof(struct stat) == 128, "struct stat is ABI");

i64 blocks_of(const struct inode *inode)
{
    return page_cache_pages(inode) * (PAGE_SIZE / 512);
}

static long put_stat(const struct inode *inode, u64 buf)
{
    struct stat st = {
        .dev = inode->sb ? inode->sb->dev : 0,
        .ino = inode->ino,
        .mode = inode->mode,
        .nlink = inode->nlink,
        .uid = inode->uid,
        .gid = inode->gid,
        .rdev = inode->rdev,
        .size = inode->size,
        .blksize = PAGE_SIZE,
        .blocks = blocks_of(inode),
        .atime = inode->atime,
        .mtime = inode->mtime,
        .ctime = inode->ctime,
    };

    return copyout(buf, &st, sizeof(st));
}

long sys_fstat(u64 fd, u64 buf)
{
    struct file *f = fd_get_any((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = f->fflags & FF_NO_STAT ? -EOPNOTSUPP : put_stat(f->inode, buf);
    file_put(f);
    return err;
}

/* With AT_EMPTY_PATH, "" and NULL mean the open file, which need not have a path. */
long sys_newfstatat(u64 dirfd, u64 path, u64 buf, u64 flags)
{
    struct path at;
    char first = 0;
    long err;

    if (flags & ~(u64)STAT_FLAGS)
        return -EINVAL;
    if (flags & AT_EMPTY_PATH &&
        (!path || ((int)dirfd != AT_FDCWD && !get_user(first, path) && !first)))
        return sys_fstat(dirfd, buf);
    err = at_walk((int)dirfd, path, (u32)flags, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, &at);
    if (err)
        return err;
    err = put_stat(at.inode, buf);
    path_put(&at);
    return err;
}

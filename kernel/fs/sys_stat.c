/*
 * sys_stat.c: the system calls about attributes: stat, statx, statfs, access, chmod, chown,
 * utimens. Structure layouts are those of Linux on riscv64 (asm-generic/stat.h, linux/stat.h).
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

static void fill_stat(const struct inode *inode, struct stat *st)
{
    *st = (struct stat){
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
}

static long put_stat(const struct inode *inode, u64 buf)
{
    struct stat st;

    fill_stat(inode, &st);
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

/* True for an open file without a status (NetBSD's kcov), named by dirfd and "". */
static bool has_no_stat(u64 dirfd, u64 path, u64 flags)
{
    char first = 0;

    if (!(flags & AT_EMPTY_PATH) || (path && (get_user(first, path) || first)))
        return false;
    struct file *f = fd_get_any((int)dirfd);
    bool refuses = f && f->fflags & FF_NO_STAT;
    if (f)
        file_put(f);
    return refuses;
}

/*
 * With AT_EMPTY_PATH, dirfd and "" mean the file itself, also a pipe or socket, which has no mount.
 * Further flags, without effect: 0x800, AT_NO_AUTOMOUNT, and 0x6000, AT_STATX_SYNC_TYPE.
 */
long walk_for_stat(u64 dirfd, u64 path, u64 flags, struct path *at)
{
    if (flags & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | 0x800 | 0x6000))
        return -EINVAL;
    if (has_no_stat(dirfd, path, flags))
        return -EOPNOTSUPP;
    if (flags & AT_EMPTY_PATH && !path) { /* newer C libraries pass NULL */
        struct file *f = fd_get_any((int)dirfd);

        if (!f)
            return -EBADF;
        *at = (struct path){f->mnt, f->inode};
        path_get(at);
        file_put(f);
        return 0;
    }
    return at_walk((int)dirfd, path, (u32)flags, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, at);
}

long sys_newfstatat(u64 dirfd, u64 path, u64 buf, u64 flags)
{
    struct path at;
    long err = walk_for_stat(dirfd, path, flags, &at);

    if (err)
        return err;
    err = put_stat(at.inode, buf);
    path_put(&at);
    return err;
}

/*
 * attributes.c: the system calls that change attributes of a file, and the larger forms of stat(2):
 * statx and statfs. Structure layouts are those of Linux on riscv64 (linux/stat.h).
 */
#include "abi/errno.h"
#include "opt/attributes/stat_at.h"
#include "opt/credentials/access.h"
#include "abi/fcntl.h"
#include "fs/open.h"
#include "klib.h"
#include "memlayout.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"
#include "opt/attributes/statfs.h"
#include "opt/mounts/mounts.h"

#define AT_EACCESS 0x200

struct statx_time {
    i64 sec;
    u32 nsec;
    i32 pad;
};

struct statx {
    u32 mask, blksize;                            /*   0 */
    u64 attributes;                               /*   8 */
    u32 nlink, uid, gid;                          /*  16 */
    u16 mode, pad1;                               /*  28 */
    u64 ino, size, blocks;                        /*  32 */
    u64 attributes_mask;                          /*  56 */
    struct statx_time atime, btime, ctime, mtime; /* 64 */
    u32 rdev_major, rdev_minor;                   /* 128 */
    u32 dev_major, dev_minor;                     /* 136 */
    u64 spare[14];
};
_Static_assert(sizeof(struct statx) == 256, "struct statx is ABI");

#define STATX_BASIC_STATS 0x7ff

static struct statx_time short_time(struct timespec64 t)
{
    return (struct statx_time){.sec = t.sec, .nsec = (u32)t.nsec};
}

static void fill_statx(const struct inode *inode, struct statx *st)
{
    *st = (struct statx){
        .mask = STATX_BASIC_STATS,
        .blksize = PAGE_SIZE,
        .nlink = inode->nlink,
        .uid = inode->uid,
        .gid = inode->gid,
        .mode = (u16)inode->mode,
        .ino = inode->ino,
        .size = inode->size,
        .blocks = blocks_of(inode),
        .atime = short_time(inode->atime),
        .ctime = short_time(inode->ctime),
        .mtime = short_time(inode->mtime),
        .rdev_major = inode->rdev >> 8,
        .rdev_minor = inode->rdev & 0xff,
        .dev_major = inode->sb ? inode->sb->dev >> 8 : 0,
        .dev_minor = inode->sb ? inode->sb->dev & 0xff : 0,
    };
}

long sys_statx(u64 dirfd, u64 path, u64 flags, u64 mask, u64 buf)
{
    struct statx st;
    struct path at;
    long err;

    if (mask & 0x80000000)
        return -EINVAL;
    err = walk_for_stat(dirfd, path, flags, &at);
    if (err)
        return err;
    fill_statx(at.inode, &st);
    path_put(&at);
    return copyout(buf, &st, sizeof(st));
}

static long put_statfs(const struct inode *inode, u64 buf)
{
    struct statfs64 st = {.bsize = PAGE_SIZE, .frsize = PAGE_SIZE, .namelen = NAME_LEN_MAX};
    long err = 0;

    if (inode->sb) {
        st.type = inode->sb->magic;
        if (inode->sb->ops && inode->sb->ops->statfs)
            err = inode->sb->ops->statfs(inode->sb, &st);
    }
    st.frsize = st.bsize;
    return err ? err : copyout(buf, &st, sizeof(st));
}

long sys_statfs(u64 path, u64 buf)
{
    struct path at;
    long err = at_walk(AT_FDCWD, path, 0, WALK_FOLLOW, &at);

    if (err)
        return err;
    err = put_statfs(at.inode, buf);
    path_put(&at);
    return err;
}

long sys_fstatfs(u64 fd, u64 buf)
{
    struct file *f = fd_get_any((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = put_statfs(f->inode, buf);
    file_put(f);
    return err;
}

/* access(2) checks the real user: a set-user-id program asks what its caller could do. */
static int real_access(const struct inode *inode, u32 want)
{
    return access_as(inode, want, curproc->uid, curproc->gid == inode->gid || in_group(inode->gid));
}

long sys_faccessat2(u64 dirfd, u64 path, u64 want, u64 flags)
{
    struct path at;
    long err;

    if (want & ~7UL || flags & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_EACCESS))
        return -EINVAL;
    err = at_walk((int)dirfd, path, flags & AT_EMPTY_PATH,
                  flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, &at);
    if (err)
        return err;
    err = flags & AT_EACCESS ? inode_access(at.inode, (u32)want) : real_access(at.inode, (u32)want);
    path_put(&at);
    return err;
}

long sys_faccessat(u64 dirfd, u64 path, u64 want)
{
    return sys_faccessat2(dirfd, path, want, 0);
}

static long owner_only(const struct inode *inode)
{
    return curproc->euid && curproc->euid != inode->uid ? -EPERM : 0;
}

static long commit_attributes(struct inode *inode)
{
    inode_touch(inode, false);
    notify_inode(inode, NOTIFY_ATTRIB);
    return inode->ops && inode->ops->setattr ? inode->ops->setattr(inode) : 0;
}

static long change_mode(struct inode *inode, u32 mode)
{
    long err = owner_only(inode);

    if (err)
        return err;
    inode->mode = (inode->mode & S_IFMT) | (mode & 07777);
    return commit_attributes(inode);
}

static long change_owner(struct inode *inode, u32 uid, u32 gid)
{
    if (curproc->euid && ((uid != ~0u && uid != inode->uid) || curproc->euid != inode->uid ||
                          (gid != ~0u && !in_group(gid))))
        return -EPERM;
    if (uid != ~0u)
        inode->uid = uid;
    if (gid != ~0u)
        inode->gid = gid;
    if (S_ISREG(inode->mode) && curproc->euid)
        inode->mode &= ~(S_ISUID | S_ISGID);
    return commit_attributes(inode);
}

long sys_fchmod(u64 fd, u64 mode)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = change_mode(f->inode, (u32)mode);
    if (!err)
        notify_dir_of(f, NOTIFY_ATTRIB);
    file_put(f);
    return err;
}

long sys_fchmodat2(u64 dirfd, u64 path, u64 mode, u64 flags)
{
    struct path at;
    long err;

    if (flags & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    err = at_walk((int)dirfd, path, (u32)flags, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, &at);
    if (err)
        return err;
    err = S_ISLNK(at.inode->mode) ? -EOPNOTSUPP : change_mode(at.inode, (u32)mode);
    path_put(&at);
    if (!err)
        notify_dir_of_path((int)dirfd, path, (u32)flags, NOTIFY_ATTRIB);
    return err;
}

long sys_fchmodat(u64 dirfd, u64 path, u64 mode)
{
    return sys_fchmodat2(dirfd, path, mode, 0);
}

long sys_fchown(u64 fd, u64 uid, u64 gid)
{
    struct file *f = fd_get((int)fd);
    long err;

    if (!f)
        return -EBADF;
    err = change_owner(f->inode, (u32)uid, (u32)gid);
    if (!err)
        notify_dir_of(f, NOTIFY_ATTRIB);
    file_put(f);
    return err;
}

long sys_fchownat(u64 dirfd, u64 path, u64 uid, u64 gid, u64 flags)
{
    struct path at;
    long err;

    if (flags & ~(u64)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    err = at_walk((int)dirfd, path, (u32)flags, flags & AT_SYMLINK_NOFOLLOW ? 0 : WALK_FOLLOW, &at);
    if (err)
        return err;
    err = change_owner(at.inode, (u32)uid, (u32)gid);
    path_put(&at);
    if (!err)
        notify_dir_of_path((int)dirfd, path, (u32)flags, NOTIFY_ATTRIB);
    return err;
}

#define UTIME_NOW  0x3fffffff
#define UTIME_OMIT 0x3ffffffe

static bool valid_time(const struct timespec64 *t)
{
    return (t->nsec >= 0 && t->nsec < 1000000000) || t->nsec == UTIME_NOW || t->nsec == UTIME_OMIT;
}

static void set_time(struct timespec64 *field, const struct timespec64 *to)
{
    u64 ns = time_wall_ns();

    if (to->nsec == UTIME_NOW)
        *field = (struct timespec64){ns / 1000000000, ns % 1000000000};
    else if (to->nsec != UTIME_OMIT)
        *field = *to;
}

long sys_utimensat(u64 dirfd, u64 path, u64 times, u64 flags)
{
    struct timespec64 t[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    struct path at;
    long err;

    if (times && copyin(t, times, sizeof(t)))
        return -EFAULT;
    if (!valid_time(&t[0]) || !valid_time(&t[1]))
        return -EINVAL;
    /* futimens: a NULL path means dirfd itself */
    err = walk_for_stat(dirfd, path, path ? flags : flags | AT_EMPTY_PATH, &at);
    if (err)
        return err;
    err = times ? owner_only(at.inode) : inode_access(at.inode, 2);
    if (!err) {
        set_time(&at.inode->atime, &t[0]);
        set_time(&at.inode->mtime, &t[1]);
        err = commit_attributes(at.inode);
    }
    path_put(&at);
    if (!err)
        notify_dir_of_path((int)dirfd, path, (u32)flags, NOTIFY_ATTRIB);
    return err;
}

/*
 * xattr.c: the system calls about extended attributes, and their permissions. tmpfs keeps "user.",
 * "trusted." and "security." attributes; on other file systems the calls fail with EOPNOTSUPP and
 * the list is empty, as on a Linux file system without them.
 *
 * Divergences: the attributes of one file have at most XATTR_INODE_MAX bytes (-ENOSPC), for every
 * prefix; "security.capability" has no effect.
 */
#include "opt/xattr/store.h"
#include "abi/fcntl.h"
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "opt/notify/notify.h"
#include "fs/open.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

/* The arguments of a call, apart from the inode. */
struct request {
    u64 name, value, size, flags; /* of the system call: name and value are user addresses */
    bool changes;                 /* sets or removes an attribute */
};
typedef long (*handler)(struct inode *inode, const struct request *rq);

static long take_name(char name[XATTR_NAME_MAX + 1], u64 addr)
{
    long n = copyinstr(name, addr, XATTR_NAME_MAX + 1);

    return n == -ENAMETOOLONG || n == 0 ? -ERANGE : n < 0 ? n : 0;
}

/* The checks that Linux makes before it calls the file system: privileges, types of files. */
static long may_touch(const struct inode *inode, const char *name, bool write)
{
    bool root = !curproc->euid;

    if (xattr_suffix(name, "security."))
        return write && !root ? -EPERM : 0;
    if (xattr_suffix(name, "system."))
        return 0;
    if (xattr_suffix(name, "trusted.") && !root)
        return write ? -EPERM : -ENODATA;
    if (xattr_suffix(name, "user.")) {
        if (!S_ISREG(inode->mode) && !S_ISDIR(inode->mode))
            return write ? -EPERM : -ENODATA;
        if (write && S_ISDIR(inode->mode) && inode->mode & S_ISVTX && !root &&
            curproc->euid != inode->uid)
            return -EPERM;
    }
    return inode_access(inode, write ? 2 : 4);
}

/* The file's attributes, if they can have one of this name. */
static long find_store(struct inode *inode, const char *name, struct xattrs **out)
{
    static const char *const prefixes[] = {"user.", "trusted.", "security."};

    *out = inode->ops && inode->ops->xattrs ? inode->ops->xattrs(inode) : NULL;
    for (u64 i = 0; *out && i < ARRAY_LEN(prefixes); i++) {
        const char *rest = xattr_suffix(name, prefixes[i]);

        if (rest)
            return *rest ? 0 : -EINVAL;
    }
    return -EOPNOTSUPP;
}

static long begin(struct inode *inode, const struct request *rq, char name[XATTR_NAME_MAX + 1],
                  struct xattrs **store)
{
    long err = take_name(name, rq->name);

    if (!err)
        err = may_touch(inode, name, rq->changes);
    return err ? err : find_store(inode, name, store);
}

static long finish_change(struct inode *inode, long err)
{
    if (!err) {
        inode_touch(inode, false);
        notify_inode(inode, NOTIFY_ATTRIB);
    }
    return err;
}

static long set(struct inode *inode, const struct request *rq)
{
    struct xattrs *store;
    struct xattr *x;
    long err;

    if (rq->flags & ~(u64)(XATTR_CREATE | XATTR_REPLACE))
        return -EINVAL;
    if (rq->size > XATTR_SIZE_MAX)
        return -E2BIG;
    x = kmalloc(sizeof(*x) + rq->size);
    if (!x)
        return -ENOMEM;
    x->size = rq->size;
    err = begin(inode, rq, x->name, &store);
    if (copyin(x->value, rq->value, rq->size))
        err = -EFAULT;
    if (!err) {
        mutex_lock(&inode->lock);
        err = xattrs_set(store, x, (u32)rq->flags);
        mutex_unlock(&inode->lock);
    }
    if (err)
        kfree(x);
    return finish_change(inode, err);
}

static long remove(struct inode *inode, const struct request *rq)
{
    char name[XATTR_NAME_MAX + 1];
    struct xattrs *store;
    long err = begin(inode, rq, name, &store);

    if (err)
        return err;
    mutex_lock(&inode->lock);
    err = xattrs_remove(store, name);
    mutex_unlock(&inode->lock);
    return finish_change(inode, err);
}

/* A buffer for the result; size 0, and no buffer, if the caller asks for its length only. */
static long make_buffer(const struct request *rq, u64 *size, char **buf)
{
    *size = MIN(rq->size, XATTR_SIZE_MAX);
    *buf = *size ? kmalloc(*size) : NULL;
    return *size && !*buf ? -ENOMEM : 0;
}

static long give(const struct request *rq, char *buf, u64 size, long n)
{
    if (n > 0 && size && copyout(rq->value, buf, (u64)n))
        n = -EFAULT;
    kfree(buf);
    return n;
}

static long get(struct inode *inode, const struct request *rq)
{
    char name[XATTR_NAME_MAX + 1], *buf;
    struct xattrs *store;
    u64 size;
    long n = begin(inode, rq, name, &store);

    if (!n)
        n = make_buffer(rq, &size, &buf);
    if (n)
        return n;
    mutex_lock(&inode->lock);
    n = xattrs_get(store, name, buf, size);
    mutex_unlock(&inode->lock);
    return give(rq, buf, size, n);
}

static long list(struct inode *inode, const struct request *rq)
{
    struct xattrs *store = inode->ops && inode->ops->xattrs ? inode->ops->xattrs(inode) : NULL;
    char *buf;
    u64 size;
    long n = store ? make_buffer(rq, &size, &buf) : 0;

    if (n || !store)
        return n;
    mutex_lock(&inode->lock);
    n = xattrs_list(store, !curproc->euid, buf, size);
    mutex_unlock(&inode->lock);
    return give(rq, buf, size, n);
}

static long by_path(u64 name, u32 how, handler handle, const struct request *rq)
{
    struct path at;
    long n = at_walk(AT_FDCWD, name, 0, how, &at);

    if (n)
        return n;
    n = handle(at.inode, rq);
    path_put(&at);
    if (!n && rq->changes)
        notify_dir_of_path(AT_FDCWD, name, how & WALK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW,
                           NOTIFY_ATTRIB);
    return n;
}

static long by_fd(u64 fd, handler handle, const struct request *rq)
{
    struct file *f = fd_get((int)fd);
    long n = f ? handle(f->inode, rq) : -EBADF;

    if (!n && rq->changes)
        notify_dir_of(f, NOTIFY_ATTRIB);
    file_put(f);
    return n;
}

long sys_setxattr(u64 path, u64 name, u64 value, u64 size, u64 flags)
{
    return by_path(path, WALK_FOLLOW, set, &(struct request){name, value, size, flags, true});
}

long sys_lsetxattr(u64 path, u64 name, u64 value, u64 size, u64 flags)
{
    return by_path(path, 0, set, &(struct request){name, value, size, flags, true});
}

long sys_fsetxattr(u64 fd, u64 name, u64 value, u64 size, u64 flags)
{
    return by_fd(fd, set, &(struct request){name, value, size, flags, true});
}

long sys_getxattr(u64 path, u64 name, u64 value, u64 size)
{
    return by_path(path, WALK_FOLLOW, get, &(struct request){name, value, size, 0, false});
}

long sys_lgetxattr(u64 path, u64 name, u64 value, u64 size)
{
    return by_path(path, 0, get, &(struct request){name, value, size, 0, false});
}

long sys_fgetxattr(u64 fd, u64 name, u64 value, u64 size)
{
    return by_fd(fd, get, &(struct request){name, value, size, 0, false});
}

long sys_listxattr(u64 path, u64 to, u64 size)
{
    return by_path(path, WALK_FOLLOW, list, &(struct request){.value = to, .size = size});
}

long sys_llistxattr(u64 path, u64 to, u64 size)
{
    return by_path(path, 0, list, &(struct request){.value = to, .size = size});
}

long sys_flistxattr(u64 fd, u64 to, u64 size)
{
    return by_fd(fd, list, &(struct request){.value = to, .size = size});
}

long sys_removexattr(u64 path, u64 name)
{
    return by_path(path, WALK_FOLLOW, remove, &(struct request){name, .changes = true});
}

long sys_lremovexattr(u64 path, u64 name)
{
    return by_path(path, 0, remove, &(struct request){name, .changes = true});
}

long sys_fremovexattr(u64 fd, u64 name)
{
    return by_fd(fd, remove, &(struct request){name, .changes = true});
}

/*
 * names.c: the system calls that make and remove names. A call that changes a directory holds
 * fs_lock from its walk on.
 */
#include "abi/errno.h"
#include "opt/directories/current.h"
#include "opt/mounts/cross.h"
#include "abi/fcntl.h"
#include "alloc.h"
#include "opt/directories/names.h"
#include "opt/paths/paths.h"
#include "klib.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"

int at_last(int dirfd, u64 user_path, struct name_op *op)
{
    struct walk *w = kmalloc(sizeof(*w));
    struct at_args a;
    int err = at_begin(&a, dirfd, user_path);

    if (!err && !w)
        err = -ENOMEM;
    if (!err) {
        mutex_lock(&fs_lock);
        err = walk_begin(w, at_base(&a), a.name);
        if (!err)
            err = walk_run(w, WALK_PARENT);
        if (!err)
            err = op->fn(w, op);
        walk_end(w);
        mutex_unlock(&fs_lock);
    }
    at_end(&a);
    kfree(w);
    return err;
}

/* 0 if the name may be made. As in Linux, -EEXIST comes before errors of permission. */
int may_create(struct walk *w)
{
    struct inode *there;
    int err;

    if (!w->name[0] || is_dots(w->name))
        return -EEXIST;
    err = walk_lookup(w, &there);
    if (!err) {
        inode_put(there);
        return -EEXIST;
    }
    if (err != -ENOENT)
        return err;
    return inode_access(w->at.inode, 3);
}

static int do_create(struct walk *w, struct name_op *op)
{
    struct inode *dir = w->at.inode, *made;
    int err = may_create(w);

    if (err)
        return err;
    if (w->want_dir && !S_ISDIR(op->mode))
        return -ENOENT;
    if (!dir->ops->create)
        return -EPERM;
    err = dir->ops->create(dir, w->name, op->mode, op->rdev, &made);
    if (err)
        return err;
    notify_entry(dir, w->name, NOTIFY_CREATE | (S_ISDIR(op->mode) ? NOTIFY_ISDIR : 0), 0);
    inode_put(made);
    return 0;
}

long sys_mkdirat(u64 dirfd, u64 path, u64 mode)
{
    struct name_op op = {.fn = do_create};

    op.mode = S_IFDIR | (mode & 01777 & ~current_fs()->umask);
    return at_last((int)dirfd, path, &op);
}

long sys_mknodat(u64 dirfd, u64 path, u64 mode, u64 rdev)
{
    struct name_op op = {.fn = do_create, .rdev = rdev};
    u32 type = mode & S_IFMT ? mode & S_IFMT : S_IFREG;

    if (type == S_IFDIR)
        return -EPERM;
    if (type == S_IFLNK)
        return -EINVAL;
    if ((type == S_IFCHR || type == S_IFBLK) && curproc->euid)
        return -EPERM;
    op.mode = type | (mode & 07777 & ~current_fs()->umask);
    return at_last((int)dirfd, path, &op);
}

/* 0 if victim, found under w->name, may be removed, by rmdir (as_dir) or unlink. */
int may_remove(struct walk *w, struct inode *victim, bool as_dir)
{
    struct inode *dir = w->at.inode;
    int err = inode_access(dir, 3);

    if (err)
        return err;
    if (as_dir && !S_ISDIR(victim->mode))
        return -ENOTDIR;
    if (!as_dir && S_ISDIR(victim->mode))
        return -EISDIR;
    if (mount_covers(w->at.mnt, victim))
        return -EBUSY;
    if (as_dir && victim->ops->is_empty && !victim->ops->is_empty(victim))
        return -ENOTEMPTY;
    if (dir->mode & S_ISVTX && curproc->euid && curproc->euid != victim->uid &&
        curproc->euid != dir->uid)
        return -EPERM;
    return dir->ops->unlink ? 0 : -EPERM;
}

/* Tells the watchers of a removed (or replaced) inode. */
void notify_gone(struct inode *inode)
{
    if (!S_ISDIR(inode->mode))
        notify_inode(inode, NOTIFY_ATTRIB | NOTIFY_LINK);
    if (!inode->nlink)
        notify_inode(inode, NOTIFY_DELETE_SELF);
}

static int do_unlink(struct walk *w, struct name_op *op)
{
    bool as_dir = op->mode;
    struct inode *victim;
    int err;

    if (!w->name[0])
        return as_dir ? -EBUSY : -EISDIR;
    if (is_dots(w->name))
        return !as_dir ? -EISDIR : w->name[1] ? -ENOTEMPTY : -EINVAL;
    err = walk_lookup(w, &victim);
    if (err)
        return err;
    err = w->want_dir && !S_ISDIR(victim->mode) ? -ENOTDIR : may_remove(w, victim, as_dir);
    if (!err)
        err = w->at.inode->ops->unlink(w->at.inode, w->name, victim);
    if (!err) {
        notify_gone(victim);
        notify_entry(w->at.inode, w->name, NOTIFY_DELETE | (as_dir ? NOTIFY_ISDIR : 0), 0);
    }
    inode_put(victim);
    return err;
}

long sys_unlinkat(u64 dirfd, u64 path, u64 flags)
{
    struct name_op op = {.fn = do_unlink, .mode = !!(flags & AT_REMOVEDIR)};

    if (flags & ~(u64)AT_REMOVEDIR)
        return -EINVAL;
    return at_last((int)dirfd, path, &op);
}

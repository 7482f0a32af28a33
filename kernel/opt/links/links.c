/* links.c: the system calls that give a file another name, by a link or by a move. */
#include "abi/errno.h"
#include "abi/fcntl.h"
#include "alloc.h"
#include "opt/paths/namei.h"
#include "opt/directories/names.h"
#include "opt/paths/paths.h"
#include "klib.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2

static int do_symlink(struct walk *w, struct name_op *op)
{
    struct inode *dir = w->at.inode;
    int err = may_create(w);

    if (err)
        return err;
    err = dir->ops->symlink ? dir->ops->symlink(dir, w->name, op->target) : -EPERM;
    if (!err)
        notify_entry(dir, w->name, NOTIFY_CREATE, 0);
    return err;
}

long sys_symlinkat(u64 target, u64 dirfd, u64 path)
{
    struct name_op op = {.fn = do_symlink};
    char *text;
    long err = copy_path(target, &text);

    if (err)
        return err;
    op.target = text;
    err = *text ? at_last((int)dirfd, path, &op) : -ENOENT;
    kfree(text);
    return err;
}

static int do_link(struct walk *w, struct name_op *op)
{
    struct inode *dir = w->at.inode;
    int err = may_create(w);

    if (err)
        return err;
    if (w->at.mnt != op->mnt)
        return -EXDEV;
    err = dir->ops->link ? dir->ops->link(dir, w->name, op->inode) : -EPERM;
    if (!err) {
        notify_inode(op->inode, NOTIFY_ATTRIB | NOTIFY_LINK);
        notify_entry(dir, w->name, NOTIFY_CREATE, 0);
    }
    return err;
}

long sys_linkat(u64 olddirfd, u64 oldpath, u64 newdirfd, u64 newpath, u64 flags)
{
    struct name_op op = {.fn = do_link};
    struct path old;
    long err;

    if (flags & ~(u64)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    err = at_walk((int)olddirfd, oldpath, flags, flags & AT_SYMLINK_FOLLOW ? WALK_FOLLOW : 0, &old);
    if (err)
        return err;
    op.inode = old.inode;
    op.mnt = old.mnt;
    err = S_ISDIR(old.inode->mode) ? -EPERM : at_last((int)newdirfd, newpath, &op);
    path_put(&old);
    return err;
}

/* True if dir is inode or below it: moving inode there would detach both from the tree. */
static bool is_inside(struct inode *dir, struct inode *inode)
{
    struct inode *at = inode_get(dir);
    bool inside = false;

    while (at && !inside) {
        struct inode *up = at->ops->parent ? at->ops->parent(at) : NULL;

        inside = at == inode;
        inode_put(at);
        at = up;
    }
    if (at)
        inode_put(at);
    return inside;
}

static int check_exchange(struct walk *from, struct inode *inode, struct walk *to,
                          struct inode *target)
{
    int err = may_remove(to, target, S_ISDIR(target->mode));

    if (err && err != -ENOTEMPTY)
        return err;
    if (S_ISDIR(target->mode) && is_inside(from->at.inode, target))
        return -EINVAL;
    return from->at.inode->ops->exchange ? 0 : -EINVAL;
}

/* Both walks have reached their directories. inode and target (may be NULL) have the two names. */
static int check_rename(struct walk *from, struct inode *inode, struct walk *to,
                        struct inode *target, u32 flags)
{
    int err = may_remove(from, inode, S_ISDIR(inode->mode));

    if (err && err != -ENOTEMPTY)
        return err;
    if (from->at.mnt != to->at.mnt)
        return -EXDEV;
    if ((from->want_dir || to->want_dir) && !S_ISDIR(inode->mode))
        return -ENOTDIR;
    if (S_ISDIR(inode->mode) && is_inside(to->at.inode, inode))
        return -EINVAL;
    if (!from->at.inode->ops->rename)
        return -EPERM;
    if (!target)
        return flags & RENAME_EXCHANGE ? -ENOENT : inode_access(to->at.inode, 3);
    if (flags & RENAME_NOREPLACE)
        return -EEXIST;
    if (flags & RENAME_EXCHANGE)
        return check_exchange(from, inode, to, target);
    if (!S_ISDIR(inode->mode) && S_ISDIR(target->mode))
        return -EISDIR;
    return may_remove(to, target, S_ISDIR(inode->mode));
}

static void notify_moved(struct walk *from, struct walk *to, struct inode *inode,
                         struct inode *target)
{
    u32 kind = S_ISDIR(inode->mode) ? NOTIFY_ISDIR : 0, cookie = notify_cookie();

    notify_entry(from->at.inode, from->name, NOTIFY_MOVED_FROM | kind, cookie);
    notify_entry(to->at.inode, to->name, NOTIFY_MOVED_TO | kind, cookie);
    notify_inode(inode, NOTIFY_MOVE_SELF);
    if (target)
        notify_gone(target);
}

static int move(struct walk *from, struct inode *inode, struct walk *to, struct inode *target,
                u32 flags)
{
    struct inode *dir = from->at.inode;
    bool exchange = flags & RENAME_EXCHANGE;
    int err = (exchange ? dir->ops->exchange : dir->ops->rename)(dir, from->name, inode,
                                                                 to->at.inode, to->name, target);

    if (err)
        return err;
    notify_moved(from, to, inode, exchange ? NULL : target);
    if (exchange)
        notify_moved(to, from, target, NULL);
    return 0;
}

static int rename_walked(struct walk *from, struct walk *to, u32 flags)
{
    struct inode *inode, *target = NULL;
    int err;

    if (!from->name[0] || !to->name[0] || is_dots(from->name) || is_dots(to->name))
        return -EBUSY;
    err = walk_lookup(from, &inode);
    if (err)
        return err;
    err = walk_lookup(to, &target);
    if (err == -ENOENT)
        err = 0, target = NULL;
    if (!err && target == inode)
        err = flags & RENAME_NOREPLACE ? -EEXIST : 0;
    else if (!err)
        err = check_rename(from, inode, to, target, flags);
    if (!err && target != inode)
        err = move(from, inode, to, target, flags);
    inode_put(target);
    inode_put(inode);
    return err;
}

long sys_renameat2(u64 olddirfd, u64 oldpath, u64 newdirfd, u64 newpath, u64 flags)
{
    struct walk *walks = kzalloc(2 * sizeof(*walks));
    struct at_args from, to;
    int err = at_begin(&from, (int)olddirfd, oldpath);
    int err2 = at_begin(&to, (int)newdirfd, newpath);

    if (!err)
        err = err2;
    if (!err && (flags & ~(u64)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
                 flags == (RENAME_NOREPLACE | RENAME_EXCHANGE)))
        err = -EINVAL;
    if (!err && !walks)
        err = -ENOMEM;
    if (!err) {
        mutex_lock(&fs_lock);
        err = walk_begin(&walks[0], at_base(&from), from.name);
        if (!err)
            err = walk_run(&walks[0], WALK_PARENT);
        if (!err)
            err = walk_begin(&walks[1], at_base(&to), to.name);
        if (!err)
            err = walk_run(&walks[1], WALK_PARENT);
        if (!err)
            err = rename_walked(&walks[0], &walks[1], (u32)flags);
        walk_end(&walks[0]);
        walk_end(&walks[1]);
        mutex_unlock(&fs_lock);
    }
    at_end(&from);
    at_end(&to);
    kfree(walks);
    return err;
}

long sys_renameat(u64 olddirfd, u64 oldpath, u64 newdirfd, u64 newpath)
{
    return sys_renameat2(olddirfd, oldpath, newdirfd, newpath, 0);
}

long sys_readlinkat(u64 dirfd, u64 path, u64 buf, u64 size)
{
    struct path at;
    char *text;
    long n = at_walk((int)dirfd, path, AT_EMPTY_PATH, 0, &at);

    if (n)
        return n;
    text = kmalloc(PATH_LEN_MAX);
    if ((i64)size <= 0)
        n = -EINVAL;
    else if (!S_ISLNK(at.inode->mode))
        n = -EINVAL;
    else if (!text)
        n = -ENOMEM;
    else
        n = at.inode->ops->readlink(at.inode, text, MIN(size, PATH_LEN_MAX));
    if (n > 0 && copyout(buf, text, n))
        n = -EFAULT;
    kfree(text);
    path_put(&at);
    return n;
}

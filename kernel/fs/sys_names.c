/*
 * sys_names.c: the system calls that make, remove, move and read names, and the arguments of all
 * ...at calls. A call that changes a directory holds fs_lock from its walk on.
 */
#include "open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "namei.h"
#include "opt/notify/notify.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE  2

static int copy_path(u64 user_path, char **out)
{
    char *name = kmalloc(PATH_LEN_MAX);
    long n = name ? copyinstr(name, user_path, PATH_LEN_MAX) : -ENOMEM;

    if (n < 0) {
        kfree(name);
        return (int)n;
    }
    *out = name;
    return 0;
}

int at_begin(struct at_args *a, int dirfd, u64 user_path)
{
    int err;

    a->base = (struct path){0};
    err = copy_path(user_path, &a->name);
    if (err) {
        a->name = NULL;
        return err;
    }
    return dirfd == AT_FDCWD || a->name[0] == '/' ? 0 : at_take_base(a, dirfd);
}

int at_take_base(struct at_args *a, int dirfd)
{
    struct file *f = fd_get_any(dirfd);

    if (!f)
        return -EBADF;
    a->base.inode = inode_get(f->inode);
    a->base.mnt = mount_get(f->mnt);
    file_put(f);
    return a->name[0] && !S_ISDIR(a->base.inode->mode) ? -ENOTDIR : 0;
}

void at_end(struct at_args *a)
{
    path_put(&a->base);
    kfree(a->name);
}

/* With AT_EMPTY_PATH and "", the place of dirfd itself. how: WALK_*. */
int at_walk(int dirfd, u64 user_path, u32 at_flags, u32 how, struct path *out)
{
    struct at_args a;
    int err = at_begin(&a, dirfd, user_path);

    if (!err && !a.name[0] && at_flags & AT_EMPTY_PATH) {
        mutex_lock(&fs_lock); /* another thread may change the current directory */
        *out = a.base.inode ? a.base : current_fs()->cwd;
        path_get(out);
        mutex_unlock(&fs_lock);
    } else if (!err) {
        err = path_walk(at_base(&a), a.name, how, out);
    }
    at_end(&a);
    return err;
}

/* An operation on the last name of a path, and its arguments; at_last() walks to its directory. */
struct name_op {
    int (*fn)(struct walk *w, struct name_op *op);
    u32 mode;
    u64 rdev;
    const char *target;
    struct inode *inode;
    struct mount *mnt;
};

static int at_last(int dirfd, u64 user_path, struct name_op *op)
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

static bool is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* 0 if the name may be made. As in Linux, -EEXIST comes before errors of permission. */
static int may_create(struct walk *w)
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

static bool is_mountpoint(struct mount *mnt, struct inode *inode)
{
    for (struct mount *m = mount_list(); m; m = m->next)
        if (m->parent == mnt && m->covered == inode)
            return true;
    return false;
}

/* 0 if victim, found under w->name, may be removed, by rmdir (as_dir) or unlink. */
static int may_remove(struct walk *w, struct inode *victim, bool as_dir)
{
    struct inode *dir = w->at.inode;
    int err = inode_access(dir, 3);

    if (err)
        return err;
    if (as_dir && !S_ISDIR(victim->mode))
        return -ENOTDIR;
    if (!as_dir && S_ISDIR(victim->mode))
        return -EISDIR;
    if (is_mountpoint(w->at.mnt, victim))
        return -EBUSY;
    if (as_dir && victim->ops->is_empty && !victim->ops->is_empty(victim))
        return -ENOTEMPTY;
    if (dir->mode & S_ISVTX && curproc->euid && curproc->euid != victim->uid &&
        curproc->euid != dir->uid)
        return -EPERM;
    return dir->ops->unlink ? 0 : -EPERM;
}

/* Tells the watchers of a removed (or replaced) inode. */
static void notify_gone(struct inode *inode)
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

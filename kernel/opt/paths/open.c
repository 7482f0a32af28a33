/*
 * open.c: opening by name. A walk to the file or its directory, the making of a file that is not
 * there, permissions, and the flags of open(2).
 */
#include "abi/errno.h"
#include "opt/memfd/seals.h"
#include "opt/directories/current.h"
#include "abi/fcntl.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/notify/notify.h"
#include "opt/paths/namei.h"
#include "opt/paths/paths.h"
#include "proc.h"

/* The permission bits of a new file, after the umask. */
static u32 masked(u32 mode)
{
    return mode & 07777 & ~current_fs()->umask;
}

static int check_access(const struct inode *inode, u32 flags)
{
    u32 acc = flags & O_ACCMODE;
    u32 want = (acc != O_WRONLY ? 4 : 0) | (acc != O_RDONLY || flags & O_TRUNC ? 2 : 0);

    if (flags & O_PATH)
        return 0;
    if (S_ISDIR(inode->mode) && (want & 2 || flags & O_CREAT))
        return -EISDIR;
    if (S_ISLNK(inode->mode))
        return -ELOOP;
    if (want & 2 && atomic_load(&inode->write_count) < 0)
        return -ETXTBSY;
    return inode_access(inode, want);
}

/*
 * The last component of an open with O_CREAT; the walk has reached its directory. Follows links to
 * files that do not exist yet, as open(2) does. 1: created; 0: found. Needs fs_lock.
 */
static int find_or_create(struct walk *w, u32 flags, u32 mode)
{
    struct inode *child, *dir;
    bool magic;
    int err;

    for (;;) {
        dir = w->at.inode;
        if (!w->name[0] || w->want_dir || !strcmp(w->name, ".") || !strcmp(w->name, ".."))
            return -EISDIR;
        err = walk_lookup(w, &child);
        if (err == -ENOENT) {
            err = inode_access(dir, 2);
            if (!err)
                err = dir->ops->create
                          ? dir->ops->create(dir, w->name, S_IFREG | masked(mode), 0, &child)
                          : -EACCES;
            if (err)
                return err;
            notify_entry(dir, w->name, NOTIFY_CREATE, 0);
            walk_enter(w, child);
            return 1;
        }
        if (err)
            return err;
        if (flags & O_EXCL) {
            inode_put(child);
            return -EEXIST;
        }
        if (!S_ISLNK(child->mode) || flags & O_NOFOLLOW) {
            walk_enter(w, child);
            return 0;
        }
        err = walk_follow(w, child);
        magic = child->ops->follow;
        inode_put(child);
        if (!err && !magic)
            err = walk_run(w, WALK_PARENT);
        if (err || magic) /* a magic link has led to the file itself */
            return err;
    }
}

struct located {
    struct path at;
    struct inode *dir;    /* the directory where it was found, or NULL; owned */
    bool created, linked; /* linked: the walk followed symbolic links */
};

static int locate(const struct path *base, const char *name, u32 flags, u32 mode, u32 resolve,
                  struct located *to)
{
    u32 how = (flags & O_NOFOLLOW ? 0 : WALK_FOLLOW) | (flags & O_DIRECTORY ? WALK_DIR : 0);
    bool may_create = flags & O_CREAT && !(flags & O_PATH);
    struct walk *w = kmalloc(sizeof(*w));
    int err;

    if (!w)
        return -ENOMEM;
    mutex_lock(&fs_lock);
    err = walk_begin(w, base, name);
    if (!err && resolve)
        err = walk_restrict(w, base, resolve);
    if (!err)
        err = walk_run(w, may_create ? WALK_PARENT : how);
    if (!err && may_create)
        err = find_or_create(w, flags, mode);
    if (err >= 0) {
        to->created = err > 0;
        to->linked = w->links;
        to->at = w->at;
        to->dir = w->dir;
        w->at = (struct path){0};
        w->dir = NULL;
        err = 0;
    }
    walk_end(w);
    mutex_unlock(&fs_lock);
    kfree(w);
    return err;
}

static int truncate_opened(struct inode *inode)
{
    int err = 0;

    if (!S_ISREG(inode->mode) || !inode->ops->truncate)
        return 0;
    mutex_lock(&inode->lock);
    if (inode->size)
        err = seals_allow_size(inode, 0);
    if (inode->size && !err)
        err = inode->ops->truncate(inode, 0);
    mutex_unlock(&inode->lock);
    return err;
}

int vfs_open_how(const struct path *base, const char *name, u32 flags, u32 mode, u32 resolve,
                 struct file **out)
{
    bool tmpfile = (flags & O_TMPFILE) == O_TMPFILE;
    struct located to;
    char *shown;
    int err = locate(base, name, tmpfile ? O_DIRECTORY : flags, mode, resolve, &to);

    if (err)
        return err;
    if (tmpfile) {
        inode_put(to.dir);
        to.dir = NULL;
        err = make_tmpfile(&to.at, masked(mode));
    }
    if (!err && !to.created && !tmpfile)
        err = check_access(to.at.inode, flags);
    if (!err && flags & O_DIRECTORY && !tmpfile && !S_ISDIR(to.at.inode->mode))
        err = -ENOTDIR;
    if (!err && flags & O_REGULAR && !S_ISREG(to.at.inode->mode))
        err = -EACCES;
    if (!err && flags & O_TRUNC && !(flags & O_PATH) && !to.created)
        err = truncate_opened(to.at.inode);
    shown = err ? NULL : shown_path(base, name, to.linked, flags);
    if (!err)
        err = !shown           ? -ENOMEM
              : flags & O_PATH ? file_open_place(&to.at, flags, shown, out)
                               : file_open_path(&to.at, flags, shown, out);
    if (!err) {
        (*out)->dir = to.dir;
        to.dir = NULL;
        notify_file(*out, NOTIFY_OPEN);
    }
    kfree(shown);
    inode_put(to.dir);
    path_put(&to.at);
    return err;
}

int vfs_open_at(const struct path *base, const char *name, u32 flags, u32 mode, struct file **out)
{
    return vfs_open_how(base, name, flags, mode, 0, out);
}

int vfs_open(const char *path, u32 flags, u32 mode, struct file **out)
{
    return vfs_open_at(NULL, path, flags, mode, out);
}

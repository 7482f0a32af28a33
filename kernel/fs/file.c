/*
 * file.c: life of an open file, opening by name, and the checks around a file's operations.
 *
 * file_new takes its own references of mount and inode, and file_put drops them. A driver's open()
 * runs before any other thread can see the file, so it needs no lock.
 */
#include "file.h"
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "opt/filelock/filelock.h"
#include "fs.h"
#include "klib.h"
#include "opt/memfd/memfd.h"
#include "namei.h"
#include "opt/notify/notify.h"
#include "open.h"
#include "proc.h"
#include "tmpfs.h"

struct file *file_get(struct file *file)
{
    atomic_add(&file->refs, 1);
    return file;
}

/* Writers and the execution of a file exclude each other (-ETXTBSY). */
static int claim(struct file *file, int side)
{
    int *count = &file->inode->write_count, old = atomic_load(count);

    do {
        if (old * side < 0)
            return -ETXTBSY;
    } while (!__atomic_compare_exchange_n(count, &old, old + side, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    file->write_claim = (i8)side;
    return 0;
}

static void file_free(struct file *file)
{
    atomic_sub(&file->inode->write_count, file->write_claim);
    inode_put(file->inode);
    inode_put(file->dir);
    mount_put(file->mnt);
    BUG_NOTE_WATCHED(fget_unlocked, file);
    kfree(file->path);
    kfree(file);
}

void file_put(struct file *file)
{
    if (!file || atomic_sub(&file->refs, 1) != 0)
        return;
    watch_release(file);
    notify_file(file, file->fflags & FF_WRITE ? NOTIFY_CLOSE_WRITE : NOTIFY_CLOSE_READ);
    filelock_release_file(file);
    if (file->ops->release)
        file->ops->release(file);
    file_free(file);
}

static u32 access_flags(u32 oflags)
{
    if (oflags & O_PATH)
        return FF_PATH;
    switch (oflags & O_ACCMODE) {
    case O_RDONLY:
        return FF_READ;
    case O_WRONLY:
        return FF_WRITE;
    default:
        return FF_READ | FF_WRITE;
    }
}

static struct file *file_new(struct inode *inode, struct mount *mnt, u32 oflags)
{
    struct file *f = kzalloc(sizeof(*f));

    if (!f)
        return NULL;
    f->refs = 1;
    list_init(&f->watches);
    mutex_init(&f->pos_lock, "filepos");
    f->oflags = oflags & ~(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC | O_REGULAR);
    f->open_flags = oflags;
    f->fflags = access_flags(oflags);
    f->inode = inode_get(inode);
    f->mnt = mount_get(mnt);
    return f;
}

static const struct file_ops path_fops = {0};

/* Opens the file at a place; the caller has checked permissions. shown: its path for /proc. */
int file_open_path(const struct path *at, u32 oflags, const char *shown, struct file **out)
{
    struct file *f = file_new(at->inode, at->mnt, oflags);
    int err = 0;

    if (!f)
        return -ENOMEM;
    f->ops = oflags & O_PATH ? &path_fops : at->inode->fops;
    f->priv = at->inode->dev_priv;
    f->path = kstrdup(shown);
    if (!f->path)
        err = -ENOMEM;
    else if (oflags & O_REGULAR)
        err = claim(f, -1);
    else if (f->fflags & FF_WRITE && S_ISREG(at->inode->mode))
        err = claim(f, 1);
    if (!err && f->ops->open)
        err = f->ops->open(at->inode, f);
    if (err) {
        file_free(f);
        return err;
    }
    *out = f;
    return 0;
}

struct file *file_anon(const char *name, u32 mode, const struct file_ops *ops, void *priv,
                       u32 oflags)
{
    static struct super anon_super = {.refs = 1, .dev = 10};
    struct inode *inode = inode_new(&anon_super, mode);
    struct file *f;

    if (!inode)
        return NULL;
    inode->fops = fops_for_mode(mode); /* used by an open through /proc/self/fd */
    f = file_on_inode(inode, name, ops, priv, oflags);
    inode_put(inode);
    return f;
}

struct file *file_on_inode(struct inode *inode, const char *name, const struct file_ops *ops,
                           void *priv, u32 oflags)
{
    struct file *f = file_new(inode, NULL, oflags);
    char text[64];

    if (!f)
        return NULL;
    ksnprintf(text, sizeof(text), "%s:[%lu]", name, inode->ino);
    f->path = kstrdup(text);
    f->ops = ops;
    f->priv = priv;
    f->fflags |= FF_STREAM;
    if (!f->path) {
        file_free(f);
        return NULL;
    }
    return f;
}

/* True if reads and writes hold pos_lock. Not pipes and devices, which may block meanwhile. */
static bool locks_pos(const struct file *f)
{
    return S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode);
}

i64 seek_from(i64 base, i64 offset)
{
    i64 pos;

    return __builtin_add_overflow(base, offset, &pos) || pos < 0 ? -EINVAL : pos;
}

/* False if some of the bytes have no position. As in Linux, that is an error also of reads. */
static bool fits(i64 pos, const struct iter *it)
{
    return pos >= 0 && it->left <= (u64)(POS_MAX - pos);
}

static i64 do_read(struct file *f, struct iter *to, i64 *at)
{
    i64 n;

    if (at)
        return fits(*at, to) ? f->ops->read(f, to, at) : -EINVAL;
    if (locks_pos(f))
        mutex_lock(&f->pos_lock);
    n = fits(f->pos, to) ? f->ops->read(f, to, &f->pos) : -EINVAL;
    if (locks_pos(f))
        mutex_unlock(&f->pos_lock);
    return n;
}

i64 file_read(struct file *f, struct iter *to, i64 *at)
{
    i64 n;

    if (!(f->fflags & FF_READ))
        return -EBADF;
    if (!f->ops->read)
        return -EINVAL;
    n = do_read(f, to, at);
    if (n > 0)
        notify_file(f, NOTIFY_ACCESS);
    return n;
}

static i64 do_write(struct file *f, struct iter *from, i64 *at)
{
    i64 n;

    if (at)
        return fits(*at, from) ? f->ops->write(f, from, at) : -EINVAL;
    if (locks_pos(f))
        mutex_lock(&f->pos_lock);
    n = fits(f->pos, from) ? f->ops->write(f, from, &f->pos) : -EINVAL;
    if (locks_pos(f))
        mutex_unlock(&f->pos_lock);
    return n;
}

i64 file_write(struct file *f, struct iter *from, i64 *at)
{
    i64 n, before = f->inode->size;

    if (!(f->fflags & FF_WRITE))
        return -EBADF;
    if (!f->ops->write)
        return -EINVAL;
    n = do_write(f, from, at);
    if (n > 0)
        notify_file(f, NOTIFY_MODIFY | (f->inode->size > before ? NOTIFY_EXTEND : 0));
    return n;
}

i64 file_read_at(struct file *file, void *buf, u64 n, i64 offset)
{
    struct iter it;

    iter_kernel(&it, buf, n);
    return file_read(file, &it, &offset);
}

i64 file_write_at(struct file *file, const void *buf, u64 n, i64 offset)
{
    struct iter it;

    iter_kernel(&it, (void *)buf, n);
    return file_write(file, &it, &offset);
}

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
        err = shown ? file_open_path(&to.at, flags, shown, out) : -ENOMEM;
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

/*
 * file.c: life of an open file, and the checks around a file's operations.
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
#include "opt/notify/reports.h"
#include "open.h"
#include "proc.h"
#include "tmpfs.h"

struct file *file_get(struct file *file)
{
    atomic_add(&file->refs, 1);
    return file;
}

void file_free(struct file *file)
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
    notify_closed(file);
    filelock_release_file(file);
    if (file->ops->release)
        file->ops->release(file);
    file_free(file);
}

static u32 access_flags(u32 oflags)
{
    u32 access = oflags & O_ACCMODE;

    return (access != O_WRONLY ? FF_READ : 0) | (access != O_RDONLY ? FF_WRITE : 0);
}

struct file *file_new(struct inode *inode, struct mount *mnt, u32 oflags)
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

/* Opens the file at a place; the caller has checked permissions. shown: its path for /proc. */
int file_open_path(const struct path *at, u32 oflags, const char *shown, struct file **out)
{
    struct file *f = file_new(at->inode, at->mnt, oflags);
    int err;

    if (!f)
        return -ENOMEM;
    f->ops = at->inode->fops;
    f->priv = at->inode->dev_priv;
    err = file_show_path(f, shown);
    if (!err)
        err = file_claim(f, oflags);
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

    if (!f)
        return NULL;
    f->ops = ops;
    f->priv = priv;
    f->fflags |= FF_STREAM;
    if (file_show_name(f, name)) {
        file_free(f);
        return NULL;
    }
    return f;
}

i64 seek_from(i64 base, i64 offset)
{
    i64 pos;

    return __builtin_add_overflow(base, offset, &pos) || pos < 0 ? -EINVAL : pos;
}

/*
 * One read or write, at a position or at the file's own, which pos_lock covers; not that of pipes
 * and devices, which may block meanwhile. That some of the bytes have no position is an error also
 * of reads, as in Linux.
 */
static i64 move(struct file *f, struct iter *it, i64 *at,
                i64 (*op)(struct file *f, struct iter *it, i64 *pos))
{
    bool locks = !at && (S_ISREG(f->inode->mode) || S_ISDIR(f->inode->mode));
    i64 n = -EINVAL;

    if (!op)
        return n;
    if (locks)
        mutex_lock(&f->pos_lock);
    if (!at)
        at = &f->pos;
    if (*at >= 0 && it->left <= (u64)(POS_MAX - *at))
        n = op(f, it, at);
    if (locks)
        mutex_unlock(&f->pos_lock);
    return n;
}

i64 file_read(struct file *f, struct iter *to, i64 *at)
{
    i64 n = f->fflags & FF_READ ? move(f, to, at, f->ops->read) : -EBADF;

    if (n > 0)
        notify_read(f);
    return n;
}

i64 file_write(struct file *f, struct iter *from, i64 *at)
{
    i64 before = f->inode->size;
    i64 n = f->fflags & FF_WRITE ? move(f, from, at, f->ops->write) : -EBADF;

    if (n > 0)
        notify_written(f, before);
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

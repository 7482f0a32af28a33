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
    notify_closed(file);
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
        err = file_claim(f, -1);
    else if (f->fflags & FF_WRITE && S_ISREG(at->inode->mode))
        err = file_claim(f, 1);
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
        notify_read(f);
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

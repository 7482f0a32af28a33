/* list.c: getdents64(2). */
#include "abi/errno.h"
#include "fs/open.h"
#include "opt/mounts/cross.h"
#include "opt/directories/list.h"
#include "alloc.h"
#include "fs.h"
#include "klib.h"
#include "syscall.h"
#include "vm.h"

/* struct linux_dirent64: ino, off, reclen, type, name */
#define DIRENT_NAME 19

struct dents_sink {
    struct dir_sink sink;
    u8 *buf;
    u64 len, cap;
};

static bool dents_put(struct dir_sink *sink, const char *name, u64 ino, u32 mode, i64 next)
{
    struct dents_sink *d = container_of(sink, struct dents_sink, sink);
    u64 n = strlen(name) + 1;
    u16 reclen = ALIGN_UP(DIRENT_NAME + n, 8);
    u8 *p = d->buf + d->len;

    if (d->len + reclen > d->cap)
        return false;
    memset(p, 0, reclen);
    memcpy(p, &ino, 8);
    memcpy(p + 8, &next, 8);
    memcpy(p + 16, &reclen, 2);
    p[18] = (mode & S_IFMT) >> 12; /* DT_* are the type bits of the mode */
    memcpy(p + DIRENT_NAME, name, n);
    d->len += reclen;
    return true;
}

static u64 parent_ino(struct file *f)
{
    struct path at = {f->mnt, f->inode};
    struct inode *up;
    u64 ino = f->inode->ino;

    path_get(&at);
    mount_cross_up(&at);
    up = at.inode->ops->parent ? at.inode->ops->parent(at.inode) : NULL;
    if (up) {
        ino = up->ino;
        inode_put(up);
    }
    path_put(&at);
    return ino;
}

/* Lists ".", ".." and then the entries of the file system. Needs fs_lock and pos_lock. */
static int dir_list(struct file *f, struct dir_sink *sink)
{
    struct inode *dir = f->inode;

    if (f->pos == 0) {
        if (!sink->put(sink, ".", dir->ino, dir->mode, 1))
            return 0;
        f->pos = 1;
    }
    if (f->pos == 1) {
        if (!sink->put(sink, "..", parent_ino(f), S_IFDIR, 2))
            return 0;
        f->pos = 2;
    }
    return dir->ops->readdir(dir, &f->pos, sink);
}

long sys_getdents64(u64 fd, u64 buf, u64 count)
{
    struct file *f = fd_get((int)fd);
    struct dents_sink d = {.sink.put = dents_put, .cap = MIN(count, 32768)};
    i64 start;
    long n;

    if (!f)
        return -EBADF;
    if (!S_ISDIR(f->inode->mode) || !(f->fflags & FF_READ)) {
        n = f->fflags & FF_READ ? -ENOTDIR : -EBADF;
        goto out;
    }
    d.buf = kmalloc(MAX(d.cap, 1));
    n = d.buf ? 0 : -ENOMEM;
    if (n)
        goto out;
    mutex_lock(&f->pos_lock);
    start = f->pos;
    mutex_lock(&fs_lock);
    n = f->inode->nlink ? dir_list(f, &d.sink) : -ENOENT;
    mutex_unlock(&fs_lock);
    if (!n && !d.len && f->pos == start) {
        struct dents_sink probe = {.sink.put = dents_put, .buf = (u8[300]){0}, .cap = 300};

        mutex_lock(&fs_lock); /* no entry fitted: is there one? */
        dir_list(f, &probe.sink);
        mutex_unlock(&fs_lock);
        f->pos = start;
        n = probe.len ? -EINVAL : 0;
    }
    if (!n && copyout(buf, d.buf, d.len)) {
        f->pos = start;
        n = -EFAULT;
    }
    mutex_unlock(&f->pos_lock);
    kfree(d.buf);
out:
    file_put(f);
    return n ? n : (long)d.len;
}

i64 dir_lseek(struct file *file, i64 offset, int whence)
{
    offset = whence == 0 || whence == 1 ? seek_from(whence ? file->pos : 0, offset) : -EINVAL;
    return offset < 0 ? offset : (file->pos = offset);
}

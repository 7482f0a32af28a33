/*
 * sys_dirs.c: current directory, root, umask, mounting, and listing of directories.
 */
#include "open.h"
#include "abi/errno.h"
#include "alloc.h"
#include "fsinit.h"
#include "internal.h"
#include "klib.h"
#include "namei.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

static struct fsctx kernel_fs = {
    .refs = 1, .lock = MUTEX_INIT(kernel_fs.lock, "fsctx"), .umask = 022};

struct fsctx *current_fs(void)
{
    return curproc->fs ? curproc->fs : &kernel_fs;
}

static void stand_at_root(struct fsctx *fs)
{
    fs->root.mnt = mount_get(mount_root());
    fs->root.inode = inode_get(mount_root()->sb->root);
    fs->cwd = fs->root;
    path_get(&fs->cwd);
}

/* Called once, after the root is mounted: sets the directories of kernel threads and process 1. */
void fsctx_init(void)
{
    stand_at_root(&kernel_fs);
    if (curproc->fs)
        stand_at_root(curproc->fs);
}

struct fsctx *fsctx_copy(struct fsctx *from)
{
    struct fsctx *fs = kzalloc(sizeof(*fs));

    if (!fs)
        return NULL;
    fs->refs = 1;
    mutex_init(&fs->lock, "fsctx");
    mutex_lock(&from->lock);
    fs->root = from->root;
    fs->cwd = from->cwd;
    fs->umask = from->umask;
    path_get(&fs->root);
    path_get(&fs->cwd);
    mutex_unlock(&from->lock);
    return fs;
}

struct fsctx *fsctx_new(void)
{
    return fsctx_copy(&kernel_fs);
}

struct fsctx *fsctx_share(struct fsctx *fs)
{
    atomic_add(&fs->refs, 1);
    return fs;
}

void fsctx_put(struct fsctx *fs)
{
    if (!fs || atomic_sub(&fs->refs, 1) != 0)
        return;
    path_put(&fs->root);
    path_put(&fs->cwd);
    kfree(fs);
}

/* Replaces *which by *to, whose references it takes over. */
static void replace_path(struct path *which, struct path *to)
{
    struct fsctx *fs = current_fs();
    struct path old;

    mutex_lock(&fs_lock); /* walks read cwd and root under it */
    mutex_lock(&fs->lock);
    old = *which;
    *which = *to;
    mutex_unlock(&fs->lock);
    mutex_unlock(&fs_lock);
    path_put(&old);
}

long change_to(struct path *at, struct path *which)
{
    long err = S_ISDIR(at->inode->mode) ? inode_access(at->inode, 1) : -ENOTDIR;

    if (err)
        path_put(at);
    else
        replace_path(which, at);
    return err;
}

long sys_chdir(u64 path)
{
    struct path at;
    long err = at_walk(AT_FDCWD, path, 0, WALK_FOLLOW | WALK_DIR, &at);

    return err ? err : change_to(&at, &current_fs()->cwd);
}

long sys_fchdir(u64 fd)
{
    struct file *f = fd_get_any((int)fd);
    struct path at;

    if (!f)
        return -EBADF;
    at = (struct path){f->mnt, f->inode};
    path_get(&at);
    file_put(f);
    return change_to(&at, &current_fs()->cwd);
}

long sys_getcwd(u64 buf, u64 size)
{
    struct fsctx *fs = current_fs();
    struct path at;
    char *text = kmalloc(PATH_LEN_MAX);
    long n;

    if (!text)
        return -ENOMEM;
    mutex_lock(&fs->lock);
    at = fs->cwd;
    path_get(&at);
    mutex_unlock(&fs->lock);
    n = path_string(&at, text, PATH_LEN_MAX);
    path_put(&at);
    if (!n) {
        n = strlen(text) + 1;
        if ((u64)n > size)
            n = -ERANGE;
        else if (copyout(buf, text, n))
            n = -EFAULT;
    }
    kfree(text);
    return n;
}

long sys_umask(u64 mask)
{
    return atomic_swap(&current_fs()->umask, (u32)mask & 0777);
}

/* A short string argument of mount(2): type, source and options. NULL reads as "". */
static long copy_word(char *buf, u64 size, u64 addr)
{
    long n;

    buf[0] = 0;
    if (!addr)
        return 0;
    n = copyinstr(buf, addr, size);
    return n == -ENAMETOOLONG ? -EINVAL : n < 0 ? n : 0;
}

long sys_mount(u64 source, u64 target, u64 type, u64 flags, u64 data)
{
    char kind[32], src[128], options[256];
    char *where;
    long err;

    if (curproc->euid)
        return -EPERM;
    err = copy_word(kind, sizeof(kind), type);
    if (!err)
        err = copy_word(src, sizeof(src), source);
    if (!err)
        err = copy_word(options, sizeof(options), data);
    if (err)
        return err;
    where = kmalloc(PATH_LEN_MAX);
    if (!where)
        return -ENOMEM;
    err = copyinstr(where, target, PATH_LEN_MAX);
    if (err >= 0)
        err = fs_mount(src, where, kind, (u32)flags, options);
    kfree(where);
    return err;
}

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

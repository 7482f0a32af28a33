/*
 * path.c: from a path to an inode, and opening by name, in a kernel without the option PATHS. There
 * are no links, no mounts, and one root, which is also the current directory. fs_lock is held from
 * the first step of a walk to the last, and while a node is made.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "open.h"
#include "syscall.h"
#include "vm.h"

#ifndef CONFIG_PATHS

/* Moves the next component of the path to name. Its length, 0 at the end; -ENAMETOOLONG. */
static int next_component(const char **path, char *name)
{
    const char *p = *path;
    int n = 0;

    while (*p == '/')
        p++;
    while (p[n] && p[n] != '/')
        if (++n > NAME_LEN_MAX)
            return -ENAMETOOLONG;
    memcpy(name, p, n);
    name[n] = 0;
    *path = p + n;
    return n;
}

/* Moves *at to the inode of this name in it; "" is the directory itself. */
static int enter(struct inode **at, const char *name)
{
    struct inode *dir = *at, *next;
    int err;

    if (!*name || !strcmp(name, "."))
        return S_ISDIR(dir->mode) ? 0 : -ENOTDIR;
    if (!S_ISDIR(dir->mode))
        return -ENOTDIR;
    if (!strcmp(name, "..")) {
        next = dir->ops->parent(dir);
        if (!next) /* the root's parent is the root */
            return 0;
    } else {
        err = dir->ops->lookup(dir, name, &next);
        if (err)
            return err;
    }
    inode_put(dir);
    *at = next;
    return 0;
}

/* All components but the last, which stays in name. On success *at has one reference. */
static int walk_to_last(struct inode *base, const char *path, struct inode **at, char *name)
{
    char next[NAME_LEN_MAX + 1];
    int n = *path ? 0 : -ENOENT;

    *at = inode_get(base && *path != '/' ? base : kernel_fs.root.inode);
    name[0] = 0;
    while (!n && (n = next_component(&path, next)) > 0) {
        n = enter(at, name);
        memcpy(name, next, sizeof(next));
    }
    if (n)
        inode_put(*at);
    return n;
}

/*
 * The inode of a path, with one reference. With make, a new one if there is none, and the result is
 * 1. A path that ends with a slash means a directory.
 */
static int find(struct inode *base, const char *path, bool make, u32 mode, struct inode **out)
{
    bool slash = *path && path[strlen(path) - 1] == '/';
    char name[NAME_LEN_MAX + 1];
    struct inode *dir;
    int err;

    mutex_lock(&fs_lock);
    err = walk_to_last(base, path, &dir, name);
    if (!err) {
        *out = inode_get(dir);
        err = enter(out, name);
        if (!err && slash && !S_ISDIR((*out)->mode))
            err = -ENOTDIR;
        if (err)
            inode_put(*out);
        if (err == -ENOENT && make) {
            bool wrong = slash && S_ISREG(mode);

            err = wrong ? -EISDIR : dir->ops->create(dir, name, mode, 0, out);
            err = err ? err : 1;
        }
        inode_put(dir);
    }
    mutex_unlock(&fs_lock);
    return err;
}

int path_walk(const struct path *base, const char *name, u32 how, struct path *out)
{
    out->mnt = NULL;
    return find(base ? base->inode : NULL, name, false, 0, &out->inode);
}

int path_make(const struct path *base, const char *path, u32 mode, struct path *out)
{
    out->mnt = NULL;
    return find(base ? base->inode : NULL, path, true, mode, &out->inode);
}

static int check_open(struct inode *inode, const char *path, u32 flags, bool made)
{
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    bool slash = path[strlen(path) - 1] == '/';
    int err = 0;

    if (!made && !slash && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    if (S_ISDIR(inode->mode) && (writes || flags & O_CREAT))
        return -EISDIR;
    if (flags & O_DIRECTORY && !S_ISDIR(inode->mode))
        return -ENOTDIR;
    if (flags & O_REGULAR && !S_ISREG(inode->mode))
        return -EACCES;
    if (flags & O_TRUNC && inode->size && inode->ops->truncate) {
        mutex_lock(&inode->lock);
        err = inode->ops->truncate(inode, 0);
        mutex_unlock(&inode->lock);
    }
    return err;
}

static int open_at(struct inode *base, const char *path, u32 flags, u32 mode, struct file **out)
{
    u32 new = S_IFREG | (mode & 07777 & ~kernel_fs.umask);
    struct path at = {0};
    int made = find(base, path, flags & O_CREAT, new, &at.inode), err = made;

    if (made < 0)
        return err;
    err = check_open(at.inode, path, flags, made);
    if (!err)
        err = file_open_path(&at, flags, path, out);
    path_put(&at);
    return err;
}

int vfs_open(const char *path, u32 flags, u32 mode, struct file **out)
{
    return open_at(NULL, path, flags, mode, out);
}

/* The arguments of an ...at call: *path is a copy (kfree), *base has one reference or is NULL. */
static int take_arguments(int dirfd, u64 user_path, struct inode **base, char **path)
{
    char *copy = kmalloc(PATH_LEN_MAX);
    long n = copy ? copyinstr(copy, user_path, PATH_LEN_MAX) : -ENOMEM;
    struct file *dir = n >= 0 && *copy != '/' && dirfd != AT_FDCWD ? fd_get_any(dirfd) : NULL;

    if (n >= 0 && *copy != '/' && dirfd != AT_FDCWD && !dir)
        n = -EBADF;
    if (n < 0) {
        kfree(copy);
        return (int)n;
    }
    *path = copy;
    *base = dir ? inode_get(dir->inode) : NULL;
    file_put(dir);
    return 0;
}

/* With AT_EMPTY_PATH, "" is dirfd itself. */
int at_walk(int dirfd, u64 user_path, u32 at_flags, u32 how, struct path *out)
{
    struct inode *base;
    char *path;
    int err = take_arguments(dirfd, user_path, &base, &path);

    if (err)
        return err;
    out->mnt = NULL;
    if (at_flags & AT_EMPTY_PATH && !*path)
        out->inode = inode_get(base ? base : kernel_fs.root.inode);
    else
        err = find(base, path, false, 0, &out->inode);
    inode_put(base);
    kfree(path);
    return err;
}

long sys_openat(u64 dirfd, u64 user_path, u64 flags, u64 mode)
{
    struct inode *base;
    struct file *f;
    char *path;
    int fd, err = take_arguments((int)dirfd, user_path, &base, &path);

    if (err)
        return err;
    fd = fd_reserve(0, flags & O_CLOEXEC);
    if (fd >= 0) {
        err = open_at(base, path, (u32)flags & ~O_REGULAR, (u32)mode, &f);
        fd_fill(fd, err ? NULL : f);
    }
    inode_put(base);
    kfree(path);
    return fd < 0 ? fd : err ? err : fd;
}

#endif

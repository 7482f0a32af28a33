/* path_string.c: the name of a directory, for getcwd() and for lists of mounts and files. */
#include "abi/errno.h"
#include "opt/directories/current.h"
#include "opt/mounts/cross.h"
#include "alloc.h"
#include "klib.h"
#include "opt/directories/path_string.h"
#include "proc.h"

/*
 * Writes the absolute path of a directory, by asking each directory for its name on the way up.
 * Needs fs_lock. -ENOENT when the directory has been removed.
 */
int path_string_locked(const struct path *path, char *buf, u64 n)
{
    const struct path *root = &current_fs()->root;
    struct path at = *path;
    char *name = kmalloc(NAME_LEN_MAX + 1);
    u64 start = n - 1;
    int err = name ? 0 : -ENOMEM;

    path_get(&at);
    buf[start] = 0;
    while (!err && !(at.inode == root->inode && at.mnt == root->mnt)) {
        struct inode *parent;
        u64 len;

        if (mount_cross_up(&at))
            continue;
        if (at.inode == kernel_fs.root.inode)
            break;
        err = at.inode->ops->name ? at.inode->ops->name(at.inode, name) : -ENOENT;
        parent = err ? NULL : at.inode->ops->parent(at.inode);
        if (!parent) {
            err = err ? err : -ENOENT;
            break;
        }
        inode_put(at.inode);
        at.inode = parent;
        len = strlen(name);
        if (len + 1 > start) {
            err = -ERANGE;
            break;
        }
        start -= len;
        memcpy(buf + start, name, len);
        buf[--start] = '/';
    }
    path_put(&at);
    kfree(name);
    if (!err && start == n - 1 && n > 1)
        buf[--start] = '/';
    if (!err)
        memmove(buf, buf + start, n - start);
    return err;
}

int path_string(const struct path *path, char *buf, u64 n)
{
    bool held = mutex_held(&fs_lock); /* true while a walk reads a link of procfs */
    int err;

    if (!held)
        mutex_lock(&fs_lock);
    err = path_string_locked(path, buf, n);
    if (!held)
        mutex_unlock(&fs_lock);
    return err;
}

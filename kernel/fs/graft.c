/*
 * graft.c: the trees of drivers in a kernel without mounts. The root of a tree takes the place of
 * the directory on which opt/mounts would mount it.
 */
#include "devfs.h"
#include "namei.h"
#include "tmpfs_node.h"

#ifndef CONFIG_MOUNTS

int fs_mount(const char *source, const char *where, const char *type)
{
    struct inode *hidden;
    struct walk w;
    int err;

    mutex_lock(&fs_lock);
    err = walk_begin(&w, NULL, where);
    if (!err)
        err = walk_run(&w, WALK_PARENT);
    if (!err)
        err = walk_lookup(&w, &hidden);
    if (!err) {
        tmpfs_unlink(w.at.inode, w.name, hidden);
        inode_put(hidden);
        err = tmpfs_add(w.at.inode, w.name, devfs_tree(type)->root);
    }
    walk_end(&w);
    mutex_unlock(&fs_lock);
    return err;
}

#endif

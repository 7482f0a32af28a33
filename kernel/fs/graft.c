/*
 * graft.c: the trees of drivers in a kernel without mounts. The root of a tree takes the place of
 * the directory on which opt/mounts would mount it.
 */
#include "devfs.h"
#include "tmpfs_node.h"

#ifndef CONFIG_MOUNTS

int fs_mount(const char *source, const char *where, const char *type)
{
    struct inode *root = devfs_tree(type)->root;
    struct entry *e;
    struct path at;
    int err = path_walk(NULL, where, WALK_DIR, &at);

    if (err)
        return err;
    mutex_lock(&fs_lock);
    node_of(root)->parent = node_of(at.inode)->parent;
    for (e = node_of(node_of(root)->parent)->entries; e->inode != at.inode;)
        e = e->next;
    e->inode = inode_get(root);
    mutex_unlock(&fs_lock);
    inode_put(at.inode); /* of the entry */
    path_put(&at);
    return 0;
}

#endif

/* graft.c: the trees of drivers in a kernel without mounts, which are directories of the root. */
#include "devfs.h"
#include "klib.h"

#ifndef CONFIG_MOUNTS

struct inode *devfs_root(const char *type)
{
    struct path at;
    struct inode *root;

    if (path_walk(NULL, strcmp(type, "debugfs") ? "/dev/" : "/sys/kernel/debug/", 0, &at))
        return NULL;
    root = at.inode;
    path_put(&at); /* it stays: no call of the core removes a directory */
    return root;
}

#endif

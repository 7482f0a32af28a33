/*
 * devfs.c: nodes of drivers in /dev and debugfs. A registered node has the driver's operations in
 * inode->fops.
 */
#include "devfs.h"
#include "abi/errno.h"
#include "klib.h"
#include "tmpfs.h"

#define MISC_MAJOR 10 /* devices that do not ask for a number get 10:64, 10:65, ... */

int devfs_add(const char *tree, const char *name, u32 mode, u64 rdev, const struct file_ops *ops,
              void *priv)
{
    struct inode *root = devfs_root(tree), *inode;
    int err;

    if (!root)
        return -ENOENT;
    if (!*name || strchr(name, '/') || strlen(name) > NAME_LEN_MAX)
        return -EINVAL;
    mutex_lock(&fs_lock);
    err = root->ops->lookup(root, name, &inode);
    if (!err) {
        inode_put(inode);
        err = -EEXIST;
    } else {
        err = root->ops->create(root, name, mode, rdev, &inode);
    }
    if (!err) {
        inode->fops = ops;
        inode->dev_priv = priv;
        inode_put(inode);
    }
    mutex_unlock(&fs_lock);
    return err;
}

int devfs_register_dev(const char *name, const struct file_ops *ops, u32 mode, u64 rdev, void *priv)
{
    u32 type = mode & S_IFMT ? mode & S_IFMT : S_IFCHR;
    int err = device_number_add(rdev, type, ops, priv);

    if (err)
        return err;
    err = devfs_add("devtmpfs", name, type | (mode & 07777), rdev, ops, priv);
    if (err)
        device_number_remove(ops);
    return err;
}

int devfs_register(const char *name, const struct file_ops *ops, u32 mode)
{
    static u32 next_minor = 64;

    return devfs_register_dev(name, ops, mode, MKDEV(MISC_MAJOR, atomic_add(&next_minor, 1) - 1),
                              NULL);
}

int debugfs_register(const char *name, const struct file_ops *ops, u32 mode, void *priv)
{
    return devfs_add("debugfs", name, S_IFREG | (mode & 07777), 0, ops, priv);
}

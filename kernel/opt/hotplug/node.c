/* node.c: the files of a device in /dev. */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "file.h"
#include "fs/devfs.h"
#include "klib.h"

struct managed_node {
    struct resource r;
    const struct file_ops *ops; /* of the inode: the driver's, or their gate */
    char name[32];
};

/* The inode lives on in files that have it open. */
static void devfs_unregister(const char *name, const struct file_ops *ops)
{
    struct inode *root = devfs_root("devtmpfs"), *inode;

    device_number_remove(ops);
    mutex_lock(&fs_lock);
    if (!root->ops->lookup(root, name, &inode)) {
        if (inode->fops == ops)
            root->ops->unlink(root, name, inode);
        inode_put(inode);
    }
    mutex_unlock(&fs_lock);
}

static void free_node(struct resource *r)
{
    struct managed_node *m = container_of(r, struct managed_node, r);

    devfs_unregister(m->name, m->ops);
    node_gate_close(m->ops);
    kfree(m);
}

int dev_node(struct device *dev, const char *name, const struct file_ops *ops, u32 mode, u64 rdev,
             void *priv)
{
    struct managed_node *m = strlen(name) < sizeof(m->name) ? kzalloc(sizeof(*m)) : NULL;
    int err = m ? node_gate_open(dev, name, &ops, priv) : -ENOMEM;

    if (!err) {
        err = devfs_register_dev(name, ops, mode, rdev, priv);
        if (err)
            node_gate_close(ops);
    }
    if (err) {
        kfree(m);
        return err;
    }
    m->ops = ops;
    strlcpy(m->name, name, sizeof(m->name));
    m->r.dev = dev;
    m->r.release = free_node;
    list_push_front(&dev->binding->in_use, &m->r.link);
    return 0;
}

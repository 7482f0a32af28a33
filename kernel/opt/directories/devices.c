/* devices.c: nodes of mknod(2) have only a number; open finds the driver that registered it. */
#include "abi/errno.h"
#include "alloc.h"
#include "fs/devfs.h"

struct registration {
    struct registration *next;
    u64 rdev;
    u32 type;
    const struct file_ops *ops;
    void *priv;
};

static struct registration *registrations; /* (fs_lock) */

int device_number_add(u64 rdev, u32 type, const struct file_ops *ops, void *priv)
{
    struct registration *r = kmalloc(sizeof(*r));

    if (!r)
        return -ENOMEM;
    mutex_lock(&fs_lock);
    *r = (struct registration){registrations, rdev, type, ops, priv};
    registrations = r;
    mutex_unlock(&fs_lock);
    return 0;
}

void device_number_remove(const struct file_ops *ops)
{
    struct registration *gone = NULL;

    mutex_lock(&fs_lock);
    for (struct registration **r = &registrations; *r; r = &(*r)->next)
        if ((*r)->ops == ops) {
            gone = *r;
            *r = gone->next;
            break;
        }
    mutex_unlock(&fs_lock);
    kfree(gone);
}

/* Becomes the registered device of that number. */
static int device_open(struct inode *inode, struct file *file)
{
    const struct file_ops *ops = NULL;

    mutex_lock(&fs_lock);
    for (struct registration *r = registrations; r; r = r->next)
        if (r->rdev == inode->rdev && r->type == (inode->mode & S_IFMT)) {
            file->priv = inode->dev_priv = r->priv;
            ops = r->ops; /* r itself may go when the lock is dropped */
            break;
        }
    mutex_unlock(&fs_lock);
    if (!ops)
        return -ENXIO;
    file->ops = ops;
    return ops->open ? ops->open(inode, file) : 0;
}

const struct file_ops device_fops = {.open = device_open};

/*
 * devfs.c: /dev and debugfs. Both are tmpfs trees with one instance each, made at boot, so that a
 * driver may register before or after a mount, and every mount shows the same tree.
 *
 * A registered node has the driver's operations in inode->fops. A node that mknod(2) made has only
 * a number; open finds the driver with this number in the list of registrations.
 */
#include "devfs.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "namei.h"
#include "tmpfs.h"

#define DEVFS_MAGIC   0x1373
#define DEBUGFS_MAGIC 0x64626720
#define MISC_MAJOR    10 /* devices that do not ask for a number get 10:64, 10:65, ... */

struct registration {
    struct registration *next;
    u64 rdev;
    u32 type;
    const struct file_ops *ops;
    void *priv;
};

static struct registration *registrations; /* (fs_lock) */
static struct super *dev_super, *debug_super;

/* Makes a node in the root directory of a tree. */
static int add_node(struct super *sb, const char *name, u32 mode, u64 rdev,
                    const struct file_ops *ops, void *priv)
{
    struct inode *root = sb->root, *inode;
    int err;

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

static void remember(struct registration *r)
{
    mutex_lock(&fs_lock);
    r->next = registrations;
    registrations = r;
    mutex_unlock(&fs_lock);
}

int devfs_register_dev(const char *name, const struct file_ops *ops, u32 mode, u64 rdev, void *priv)
{
    u32 type = mode & S_IFMT ? mode & S_IFMT : S_IFCHR;
    struct registration *r = kzalloc(sizeof(*r));
    int err;

    if (!r)
        return -ENOMEM;
    *r = (struct registration){NULL, rdev, type, ops, priv};
    devfs_init();
    err = add_node(dev_super, name, type | (mode & 07777), rdev, ops, priv);
    if (err)
        kfree(r);
    else
        remember(r); /* nothing can fail after the node is visible */
    return err;
}

/* The inode lives on in files that have it open. */
void devfs_unregister(const char *name, const struct file_ops *ops)
{
    struct inode *root = dev_super->root, *inode;
    struct registration *gone = NULL;

    mutex_lock(&fs_lock);
    for (struct registration **r = &registrations; *r; r = &(*r)->next)
        if ((*r)->ops == ops) {
            gone = *r;
            *r = gone->next;
            break;
        }
    if (!root->ops->lookup(root, name, &inode)) {
        if (inode->fops == ops)
            root->ops->unlink(root, name, inode);
        inode_put(inode);
    }
    mutex_unlock(&fs_lock);
    kfree(gone);
}

int devfs_register(const char *name, const struct file_ops *ops, u32 mode)
{
    static u32 next_minor = 64;

    return devfs_register_dev(name, ops, mode, MKDEV(MISC_MAJOR, atomic_add(&next_minor, 1) - 1),
                              NULL);
}

int debugfs_register(const char *name, const struct file_ops *ops, u32 mode, void *priv)
{
    devfs_init();
    return add_node(debug_super, name, S_IFREG | (mode & 07777), 0, ops, priv);
}

int devfs_mkdir(const char *name)
{
    return add_node(dev_super, name, S_IFDIR | 0755, 0, fops_for_mode(S_IFDIR), NULL);
}

/* open() of a node made by mknod: becomes the registered device of that number. */
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

/* Each tree has one instance: a mount takes one more reference of it. */
static int mount_single(const struct fs_type *type, const char *source, u32 flags, const char *data,
                        struct super **out)
{
    *out = type == &devfs_type ? dev_super : debug_super;
    atomic_add(&(*out)->refs, 1);
    return 0;
}

struct fs_type devfs_type = {.name = "devtmpfs", .nodev = true, .mount = mount_single};
struct fs_type debugfs_type = {.name = "debugfs", .nodev = true, .mount = mount_single};

/* Makes the trees at the first call, by fs_init or a driver. */
void devfs_init(void)
{
    if (dev_super)
        return;
    dev_super = tmpfs_super(&devfs_type, DEVFS_MAGIC, 0755);
    debug_super = tmpfs_super(&debugfs_type, DEBUGFS_MAGIC, 0700);
    KASSERT(dev_super && debug_super);
}

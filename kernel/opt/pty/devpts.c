/*
 * devpts.c: the directory /dev/pts (pts(4)): ptmx, and a node for each pseudo-terminal whose master
 * is open. It is a tmpfs tree in which only pty.c makes and removes names.
 *
 * There is one instance, as in Linux before 4.7: every mount shows the same terminals, and ptmx
 * works wherever its node is. Mount options are ignored, as if ptmxmode=0666 had been given.
 */
#include "devpts.h"
#include "abi/errno.h"
#include "fs/devfs.h"
#include "klib.h"
#include "opt/mounts/mounts.h"
#include "proc.h"
#include "fs/tmpfs.h"

#define DEVPTS_MAGIC 0x1cd1
#define INO_PTMX     2
#define INO_FIRST    3

static struct super *pts_super;
static struct inode_ops dir_ops; /* those of tmpfs that do not change the tree */

/* Needs fs_lock. */
static int add(const char *name, u32 mode, u64 rdev, u64 ino, struct inode **out)
{
    int err = tmpfs_ops.create(pts_super->root, name, S_IFCHR | mode, rdev, out);

    if (!err)
        (*out)->ino = ino;
    return err;
}

int devpts_add_ptmx(const struct file_ops *ops)
{
    struct inode *inode;
    int err;

    mutex_lock(&fs_lock);
    err = add("ptmx", 0666, MKDEV(5, 2), INO_PTMX, &inode);
    if (!err) {
        inode->fops = ops;
        inode_put(inode);
    }
    mutex_unlock(&fs_lock);
    return err;
}

int devpts_add(u32 n, const struct file_ops *ops, void *priv, struct inode **out)
{
    char name[12];
    int err;

    ksnprintf(name, sizeof(name), "%u", n);
    mutex_lock(&fs_lock);
    err = add(name, 0600, MKDEV(PTS_MAJOR, n), INO_FIRST + n, out);
    if (!err) {
        (*out)->uid = curproc->euid;
        (*out)->gid = curproc->egid;
        (*out)->fops = ops;
        (*out)->dev_priv = priv;
    }
    mutex_unlock(&fs_lock);
    return err;
}

void devpts_remove(u32 n, struct inode *node)
{
    char name[12];

    ksnprintf(name, sizeof(name), "%u", n);
    mutex_lock(&fs_lock);
    node->dev_priv = NULL;
    tmpfs_ops.unlink(pts_super->root, name, node);
    mutex_unlock(&fs_lock);
    inode_put(node);
}

static int devpts_mount(const struct fs_type *type, const char *source, u32 flags, const char *data,
                        struct super **out)
{
    *out = pts_super;
    atomic_add(&pts_super->refs, 1);
    return 0;
}

static struct fs_type devpts_type = {.name = "devpts", .nodev = true, .mount = devpts_mount};

int devpts_init(void)
{
    pts_super = tmpfs_super(DEVPTS_MAGIC, 0755);
    if (!pts_super)
        return -ENOMEM;
    dir_ops = tmpfs_ops;
    dir_ops.create = NULL;
    dir_ops.unlink = NULL;
#ifdef CONFIG_LINKS
    dir_ops.symlink = NULL;
    dir_ops.link = NULL;
    dir_ops.rename = NULL;
    dir_ops.exchange = NULL;
#endif
    pts_super->root->ops = &dir_ops;
    fs_register(&devpts_type);
    devfs_add("devtmpfs", "pts", S_IFDIR | 0755, 0, fops_for_mode(S_IFDIR), NULL);
    return fs_mount("devpts", "/dev/pts", "devpts");
}

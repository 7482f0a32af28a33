/*
 * types.c: tmpfs, devtmpfs and debugfs as types that can be mounted, and the limits of a tmpfs.
 *
 * A mount takes at most half of RAM unless its options say otherwise (tmpfs_options.c), and as many
 * inodes as that has pages. Beyond that, calls fail with ENOSPC, and a mapping gets SIGBUS.
 */
#include "abi/errno.h"
#include "opt/attributes/statfs.h"
#include "alloc.h"
#include "boot.h"
#include "fs/devfs.h"
#include "fs/tmpfs_node.h"
#include "klib.h"
#include "opt/mounts/mounts.h"
#include "proc.h"

#define DEVFS_MAGIC   0x1373
#define DEBUGFS_MAGIC 0x64626720

bool budget_take(struct budget *b, u64 n)
{
    u64 used = atomic_add(&b->used, n), max = atomic_load(&b->max);

    if (!max || used <= max)
        return true;
    atomic_sub(&b->used, n);
    return false;
}

void budget_give(struct budget *b, u64 n)
{
    atomic_sub(&b->used, n);
}

static void tmpfs_umount(struct super *sb)
{
    inode_put(sb->root);
    kfree(sb);
}

void tmpfs_mountable(struct super *sb)
{
    static const struct super_ops ops = {.statfs = IF_OPTION(CONFIG_ATTRIBUTES, tmpfs_statfs),
                                         .umount = tmpfs_umount};

    sb->ops = &ops;
}

static int tmpfs_mount(const struct fs_type *type, const char *source, u32 flags, const char *data,
                       struct super **out)
{
    struct tmpfs_options o = {.pages = pages_total_count() / 2,
                              .inodes = pages_total_count() / 2,
                              .mode = 01777,
                              .uid = curproc->euid,
                              .gid = curproc->egid};
    int err = tmpfs_parse(data, &o);

    (void)type, (void)source, (void)flags;
    if (err)
        return err;
    *out = tmpfs_super(TMPFS_MAGIC, o.mode);
    if (!*out)
        return -ENOMEM;
    (*out)->root->uid = o.uid;
    (*out)->root->gid = o.gid;
    (*out)->pages.max = o.pages;
    (*out)->inodes.max = o.inodes;
    return 0;
}

void tmpfs_limit(struct super *sb)
{
    sb->pages.max = MAX(pages_total_count() / 2, sb->pages.used);
    sb->inodes.max = MAX(pages_total_count() / 2, sb->inodes.used);
}

/*
 * devfs and debugfs are tmpfs trees with one instance each, made at boot, so that a driver may
 * register before or after a mount, and every mount shows the same tree.
 */
static struct super *devfs_tree(const char *type)
{
    static struct super *dev, *debug;

    if (!dev) {
        dev = tmpfs_super(DEVFS_MAGIC, 0755);
        debug = tmpfs_super(DEBUGFS_MAGIC, 0700);
        KASSERT(dev && debug);
    }
    return strcmp(type, "debugfs") ? dev : debug;
}

struct inode *devfs_root(const char *type)
{
    return devfs_tree(type)->root;
}

/* Each of these trees has one instance: a mount takes one more reference of it. */
static int mount_single(const struct fs_type *type, const char *source, u32 flags, const char *data,
                        struct super **out)
{
    *out = devfs_tree(type->name);
    atomic_add(&(*out)->refs, 1);
    return 0;
}

struct fs_type tmpfs_type = {.name = "tmpfs", .nodev = true, .mount = tmpfs_mount};
static struct fs_type devfs_type = {.name = "devtmpfs", .nodev = true, .mount = mount_single};
static struct fs_type debugfs_type = {.name = "debugfs", .nodev = true, .mount = mount_single};

void fs_register_trees(void)
{
    fs_register(&tmpfs_type);
    fs_register(&devfs_type);
    fs_register(&debugfs_type);
}

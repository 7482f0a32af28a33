/*
 * init.c: the initial file tree: the initial archive in a tmpfs, devices on /dev, terminals on
 * /dev/pts, processes on /proc. /sys/kernel/debug is an empty directory on which mount(2) can put
 * debugfs.
 */
#include "fs.h"
#include "boot.h"
#include "cpio.h"
#include "devfs.h"
#include "klib.h"
#include "namei.h"
#include "tmpfs.h"
#include "fsinit.h"

static void make_dir(const char *path, u32 mode)
{
    struct walk w;
    struct inode *made = NULL, *there;

    mutex_lock(&fs_lock);
    if (!walk_begin(&w, NULL, path) && !walk_run(&w, WALK_PARENT)) {
        if (!walk_lookup(&w, &there))
            inode_put(there);
        else
            w.at.inode->ops->create(w.at.inode, w.name, S_IFDIR | mode, 0, &made);
    }
    walk_end(&w);
    mutex_unlock(&fs_lock);
    inode_put(made);
}

/* Called once, in a thread that may sleep. */
void fs_init(void)
{
    struct archive initrd = {.at = initrd_start, .ready = initrd_size, .bytes = initrd_size};
    int err;

    fs_register(&tmpfs_type);
    fs_register(&devfs_type);
    fs_register(&debugfs_type);
    devfs_init();
    err = mount_as_root("tmpfs");
    if (err)
        panic("no memory for the root file system");
    mount_root()->sb->root->mode = S_IFDIR | 0755;
    fsctx_init();
    if (initrd_size && cpio_unpack(&initrd))
        kprintf("initrd: the archive is damaged, continuing with what was unpacked\n");
    make_dir("/dev", 0755);
    make_dir("/proc", 0555);
    make_dir("/tmp", 01777);
    make_dir("/sys", 0555);
    make_dir("/sys/kernel", 0555);
    make_dir("/sys/kernel/debug", 0700);
    fs_mount("devtmpfs", "/dev", "devtmpfs");
}

void fs_limit_root(void)
{
    tmpfs_limit(mount_root()->sb);
}

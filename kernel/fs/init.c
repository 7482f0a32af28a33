/*
 * init.c: the initial file tree: the initial archive in a tmpfs, devices on /dev, terminals on
 * /dev/pts, processes on /proc. With opt/mounts, /sys/kernel/debug is an empty directory on which
 * mount(2) can put debugfs.
 */
#include "fs.h"
#include "boot.h"
#include "devfs.h"
#include "klib.h"
#include "proc.h"
#include "tmpfs.h"

static struct super *root_super;
struct fsctx kernel_fs = {.refs = 1, .lock = MUTEX_INIT(kernel_fs.lock, "fsctx"), .umask = 022};

static void stand_at(struct fsctx *fs, const struct path *root)
{
    fs->root = fs->cwd = *root;
    path_get(&fs->root);
    path_get(&fs->cwd);
}

static void make_dir(const char *path, u32 mode)
{
    struct path at;

    if (path_make(NULL, path, S_IFDIR | mode, &at) >= 0)
        path_put(&at);
}

/* Called once, in a thread that may sleep. */
void fs_init(void)
{
    fs_register_trees();
    root_super = tmpfs_super(TMPFS_MAGIC, 0755);
    if (!root_super)
        panic("no memory for the root file system");
    stand_at(&kernel_fs, &(struct path){mount_first(root_super), root_super->root});
    if (curproc->fs != &kernel_fs)
        stand_at(curproc->fs, &kernel_fs.root);
    if (initrd_size && initrd_unpack())
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
    tmpfs_limit(root_super);
}

/*
 * sys_dirs.c: current directory, root and umask of a process, as its threads share them.
 */
#include "alloc.h"
#include "fsinit.h"
#include "klib.h"
#include "namei.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

static struct fsctx kernel_fs = {
    .refs = 1, .lock = MUTEX_INIT(kernel_fs.lock, "fsctx"), .umask = 022};

struct fsctx *current_fs(void)
{
    return curproc->fs ? curproc->fs : &kernel_fs;
}

static void stand_at_root(struct fsctx *fs)
{
    fs->root.mnt = mount_get(mount_root());
    fs->root.inode = inode_get(mount_root()->sb->root);
    fs->cwd = fs->root;
    path_get(&fs->cwd);
}

/* Called once, after the root is mounted: sets the directories of kernel threads and process 1. */
void fsctx_init(void)
{
    stand_at_root(&kernel_fs);
    if (curproc->fs)
        stand_at_root(curproc->fs);
}

struct fsctx *fsctx_copy(struct fsctx *from)
{
    struct fsctx *fs = kzalloc(sizeof(*fs));

    if (!fs)
        return NULL;
    fs->refs = 1;
    mutex_init(&fs->lock, "fsctx");
    mutex_lock(&from->lock);
    fs->root = from->root;
    fs->cwd = from->cwd;
    fs->umask = from->umask;
    path_get(&fs->root);
    path_get(&fs->cwd);
    mutex_unlock(&from->lock);
    return fs;
}

struct fsctx *fsctx_new(void)
{
    return fsctx_copy(&kernel_fs);
}

struct fsctx *fsctx_share(struct fsctx *fs)
{
    atomic_add(&fs->refs, 1);
    return fs;
}

void fsctx_put(struct fsctx *fs)
{
    if (!fs || atomic_sub(&fs->refs, 1) != 0)
        return;
    path_put(&fs->root);
    path_put(&fs->cwd);
    kfree(fs);
}

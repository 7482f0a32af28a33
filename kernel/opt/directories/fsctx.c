/* fsctx.c: current directory, root and umask of a process, as its threads share them. */
#include "alloc.h"
#include "opt/directories/current.h"
#include "fs.h"
#include "proc.h"

struct fsctx *current_fs(void)
{
    return curproc->fs ? curproc->fs : &kernel_fs;
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

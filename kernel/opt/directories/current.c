/* current.c: the current directory and the umask of a process. */
#include "abi/errno.h"
#include "alloc.h"
#include "fs/open.h"
#include "klib.h"
#include "opt/directories/current.h"
#include "opt/directories/path_string.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

/* Replaces *which by *to, whose references it takes over. */
static void replace_path(struct path *which, struct path *to)
{
    struct fsctx *fs = current_fs();
    struct path old;

    mutex_lock(&fs_lock); /* walks read cwd and root under it */
    mutex_lock(&fs->lock);
    old = *which;
    *which = *to;
    mutex_unlock(&fs->lock);
    mutex_unlock(&fs_lock);
    path_put(&old);
}

long change_to(struct path *at, struct path *which)
{
    long err = S_ISDIR(at->inode->mode) ? inode_access(at->inode, 1) : -ENOTDIR;

    if (err)
        path_put(at);
    else
        replace_path(which, at);
    return err;
}

long sys_chdir(u64 path)
{
    struct path at;
    long err = at_walk(AT_FDCWD, path, 0, WALK_FOLLOW | WALK_DIR, &at);

    return err ? err : change_to(&at, &current_fs()->cwd);
}

long sys_fchdir(u64 fd)
{
    struct file *f = fd_get_any((int)fd);
    struct path at;

    if (!f)
        return -EBADF;
    at = (struct path){f->mnt, f->inode};
    path_get(&at);
    file_put(f);
    return change_to(&at, &current_fs()->cwd);
}

long sys_getcwd(u64 buf, u64 size)
{
    struct fsctx *fs = current_fs();
    struct path at;
    char *text = kmalloc(PATH_LEN_MAX);
    long n;

    if (!text)
        return -ENOMEM;
    mutex_lock(&fs->lock);
    at = fs->cwd;
    path_get(&at);
    mutex_unlock(&fs->lock);
    n = path_string(&at, text, PATH_LEN_MAX);
    path_put(&at);
    if (!n) {
        n = strlen(text) + 1;
        if ((u64)n > size)
            n = -ERANGE;
        else if (copyout(buf, text, n))
            n = -EFAULT;
    }
    kfree(text);
    return n;
}

long sys_umask(u64 mask)
{
    return atomic_swap(&current_fs()->umask, (u32)mask & 0777);
}

/*
 * sys_names.c: the arguments of all ...at calls.
 */
#include "opt/paths/paths.h"
#include "opt/directories/current.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

int copy_path(u64 user_path, char **out)
{
    char *name = kmalloc(PATH_LEN_MAX);
    long n = name ? copyinstr(name, user_path, PATH_LEN_MAX) : -ENOMEM;

    if (n < 0) {
        kfree(name);
        return (int)n;
    }
    *out = name;
    return 0;
}

int at_begin(struct at_args *a, int dirfd, u64 user_path)
{
    int err;

    a->base = (struct path){0};
    err = copy_path(user_path, &a->name);
    if (err) {
        a->name = NULL;
        return err;
    }
    return dirfd == AT_FDCWD || a->name[0] == '/' ? 0 : at_take_base(a, dirfd);
}

int at_take_base(struct at_args *a, int dirfd)
{
    struct file *f = fd_get_any(dirfd);

    if (!f)
        return -EBADF;
    a->base.inode = inode_get(f->inode);
    a->base.mnt = mount_get(f->mnt);
    file_put(f);
    return a->name[0] && !S_ISDIR(a->base.inode->mode) ? -ENOTDIR : 0;
}

void at_end(struct at_args *a)
{
    path_put(&a->base);
    kfree(a->name);
}

/* With AT_EMPTY_PATH and "", the place of dirfd itself. how: WALK_*. */
int at_walk(int dirfd, u64 user_path, u32 at_flags, u32 how, struct path *out)
{
    struct at_args a;
    int err = at_begin(&a, dirfd, user_path);

    if (!err && !a.name[0] && at_flags & AT_EMPTY_PATH) {
        mutex_lock(&fs_lock); /* another thread may change the current directory */
        *out = a.base.inode ? a.base : current_fs()->cwd;
        path_get(out);
        mutex_unlock(&fs_lock);
    } else if (!err) {
        err = path_walk(at_base(&a), a.name, how, out);
    }
    at_end(&a);
    return err;
}

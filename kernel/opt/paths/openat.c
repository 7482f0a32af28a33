/*
 * sys_open.c: openat(2), which ignores unknown flags.
 */
#include "opt/paths/paths.h"
#include "syscall.h"
#include "vm.h"

long open_at(u64 dirfd, u64 path, const struct open_how *how)
{
    struct at_args a;
    struct file *f;
    int fd, err = at_begin(&a, (int)dirfd, path);

    if (!err && how->resolve && !a.base.inode && (int)dirfd != AT_FDCWD)
        err = at_take_base(&a, (int)dirfd);
    if (err) {
        at_end(&a);
        return err;
    }
    fd = fd_reserve(0, how->flags & O_CLOEXEC);
    if (fd >= 0) {
        err = vfs_open_how(at_base(&a), a.name, (u32)how->flags & ~O_REGULAR, (u32)how->mode,
                           (u32)how->resolve, &f);
        fd_fill(fd, err ? NULL : f);
    }
    at_end(&a);
    return fd < 0 ? fd : err ? err : fd;
}

long sys_openat(u64 dirfd, u64 path, u64 flags, u64 mode)
{
    struct open_how how = {.flags = (u32)flags, .mode = (u32)mode};

    return open_at(dirfd, path, &how);
}

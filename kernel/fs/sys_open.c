/*
 * sys_open.c: openat(2), which ignores unknown flags, and openat2(2), which refuses them and lets
 * the caller restrict where the path may lead.
 */
#include "open.h"
#include "abi/errno.h"
#include "namei.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

struct open_how { /* ABI; grows */
    u64 flags, mode, resolve;
};

#define OPEN_FLAGS_KNOWN                                                                           \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_DSYNC |         \
     O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |         \
     O_PATH | O_TMPFILE | 04000000 /* O_SYNC */)

static long open_at(u64 dirfd, u64 path, const struct open_how *how)
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

long sys_openat2(u64 dirfd, u64 path, u64 how_addr, u64 size)
{
    bool creates;
    struct open_how how;
    long err = size < sizeof(how) ? -EINVAL : copyin_struct(&how, sizeof(how), how_addr, size);

    if (err)
        return err;
    creates = how.flags & O_CREAT || (how.flags & O_TMPFILE) == O_TMPFILE;
    if (how.flags & ~(u64)OPEN_FLAGS_KNOWN || how.resolve & ~(u64)RESOLVE_ALL ||
        how.mode & ~07777UL || (how.mode && !creates) ||
        (how.resolve & RESOLVE_BENEATH && how.resolve & RESOLVE_IN_ROOT) ||
        (how.flags & O_PATH &&
         how.flags & ~(u64)(O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_LARGEFILE)))
        return -EINVAL;
    return open_at(dirfd, path, &how);
}

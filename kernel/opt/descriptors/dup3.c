/* dup3.c: dup3(2), which chooses the new number. */
#include "abi/errno.h"
#include "fs.h"
#include "fs/files.h"
#include "proc.h"
#include "syscall.h"

static int fd_replace(int newfd, struct file *file, bool cloexec)
{
    struct files *t = curproc->files;
    struct file *old = NULL;
    int err;

    spin_lock(&t->lock);
    err = newfd < 0 || (u64)newfd >= rlimit_get(RLIMIT_NOFILE) ? -EBADF : files_make_room(t, newfd);
    if (!err && t->slots[newfd].file == RESERVED)
        err = -EBUSY;
    if (!err) {
        old = t->slots[newfd].file;
        t->slots[newfd].file = file_get(file);
        t->slots[newfd].cloexec = cloexec;
    }
    spin_unlock(&t->lock);
    if (old)
        files_release_slot(t, newfd, old);
    return err ? err : newfd;
}

long sys_dup3(u64 oldfd, u64 newfd, u64 flags)
{
    struct file *f;
    long fd;

    if (flags & ~(u64)O_CLOEXEC || (int)oldfd == (int)newfd)
        return -EINVAL;
    f = fd_get_any((int)oldfd);
    if (!f)
        return -EBADF;
    fd = fd_replace((int)newfd, f, flags & O_CLOEXEC);
    file_put(f);
    return fd;
}

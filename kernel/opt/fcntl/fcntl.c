/* fcntl.c: fcntl(2). */
#include "opt/signals/numbers.h"
#include "abi/errno.h"
#include "opt/filelock/fcntl.h"
#include "opt/memfd/seals.h"
#include "opt/fifo/fifo.h"
#include "abi/fcntl.h"
#include "fs/files.h"
#include "fs/open.h"
#include "fs/pipe.h"
#include "opt/fcntl/cloexec.h"
#include "opt/filelock/filelock.h"
#include "proc.h"
#include "syscall.h"

#define F_DUPFD         0
#define F_GETFD         1
#define F_SETFD         2
#define F_GETFL         3
#define F_SETFL         4
#define F_GETLK         5
#define F_SETLK         6
#define F_SETLKW        7
#define F_SETOWN        8
#define F_GETOWN        9
#define F_DUPFD_CLOEXEC 1030
#define F_SETPIPE_SZ    1031
#define F_GETPIPE_SZ    1032
#define F_ADD_SEALS     1033
#define F_GET_SEALS     1034

#define FD_CLOEXEC 1
#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME)

int fd_get_cloexec(int fd)
{
    struct files *t = curproc->files;
    int flag;

    spin_lock(&t->lock); /* another thread may be replacing the arrays by larger ones */
    flag = fd >= 0 && fd < t->cap ? t->slots[fd].cloexec : -EBADF;
    spin_unlock(&t->lock);
    return flag;
}

int fd_set_cloexec(int fd, bool cloexec)
{
    struct files *t = curproc->files;

    bool exists;

    spin_lock(&t->lock);
    exists = fd >= 0 && fd < t->cap;
    if (exists)
        t->slots[fd].cloexec = cloexec;
    spin_unlock(&t->lock);
    return exists ? 0 : -EBADF;
}

/* The commands that are not about descriptors and status flags. */
static long fcntl_more(struct file *f, int cmd, u64 arg)
{
    switch (cmd) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
        return filelock_fcntl(f, cmd - F_GETLK, arg);
    case F_SETOWN:
    case F_GETOWN: /* SIGIO is not delivered, so no file has an owner */
        return 0;
    case F_ADD_SEALS:
    case F_GET_SEALS:
        return memfd_fcntl(f, cmd, arg);
    case F_SETPIPE_SZ:
    case F_GETPIPE_SZ:
        return pipe_fcntl_size(f, cmd == F_SETPIPE_SZ, arg);
    default:
        return -EINVAL;
    }
}

static long dup_from(struct file *f, u64 min, bool cloexec)
{
    if (min >= rlimit_get(RLIMIT_NOFILE))
        return -EINVAL;
    int fd = fd_reserve((int)min, cloexec);
    if (fd >= 0)
        fd_fill(fd, file_get(f));
    return fd;
}

static long set_status_flags(struct file *f, u32 flags)
{
    f->oflags = (f->oflags & ~SETFL_MASK) | (flags & SETFL_MASK);
    return 0;
}

static long fcntl_file(struct file *f, int fd, int cmd, u64 arg)
{
    switch (cmd) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return dup_from(f, arg, cmd == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return fd_get_cloexec(fd);
    case F_SETFD:
        return fd_set_cloexec(fd, arg & FD_CLOEXEC);
    case F_GETFL:
        return f->oflags | O_LARGEFILE;
    }
    if (f->fflags & FF_PATH)
        return -EBADF;
    return cmd == F_SETFL ? set_status_flags(f, arg) : fcntl_more(f, cmd, arg);
}

long sys_fcntl(u64 fd, u64 cmd, u64 arg)
{
    struct file *f = fd_get_any((int)fd);
    long result;

    if (!f)
        return -EBADF;
    result = fcntl_file(f, (int)fd, (int)cmd, arg);
    file_put(f);
    return result;
}

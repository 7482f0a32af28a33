/* descriptors.c: close_range(2) and unshare(2): private copies of what a process shares. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "bugs.h"
#include "fs.h"
#include "opt/fcntl/cloexec.h"
#include "opt/descriptors/look.h"
#include "opt/exec/tables.h"
#include "proc.h"
#include "syscall.h"

#define CLOSE_RANGE_UNSHARE 2
#define CLOSE_RANGE_CLOEXEC 4

long sys_close_range(u64 first, u64 last, u64 flags)
{
    struct files *t;
    long err = 0;

    if ((u32)first > (u32)last || flags & ~(u64)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC))
        return -EINVAL;
    if (flags & CLOSE_RANGE_UNSHARE)
        err = files_unshare(&curproc->files, files_spare(curproc->files));
    if (err)
        return err;
    t = curproc->files;
    for (int fd = files_next(t, MIN((u32)first, 0x7fffffffu)); fd >= 0 && (u32)fd <= (u32)last;
         fd = files_next(t, fd + 1)) {
        BUG_NOTE(close_range_cloexec, flags & flags << 1 & CLOSE_RANGE_CLOEXEC); /* both */
        if (flags & CLOSE_RANGE_CLOEXEC &&
            !(BUG(close_range_cloexec) && flags & CLOSE_RANGE_UNSHARE))
            fd_set_cloexec(fd, true);
        else
            fd_close(fd);
    }
    return 0;
}

/*
 * Gives a process its own copies of shared data; there are no namespaces to leave. Divergence: a
 * thread cannot leave its siblings, so this is for processes of one thread (-EINVAL).
 */
long sys_unshare(u64 flags)
{
    struct proc *p = curproc;
    struct fsctx *mine = NULL, *old = NULL;
    bool alone = atomic_load(&p->nthreads) == 1;
    long err = flags & ~(u64)(CLONE_FILES | CLONE_FS) || (flags && !alone) ? -EINVAL : 0;

    if (!err && flags & CLONE_FILES)
        err = files_unshare(&p->files, files_spare(p->files));
    if (!err && flags & CLONE_FS) {
        mine = fsctx_copy(p->fs);
        err = mine ? 0 : -ENOMEM;
    }
    if (mine) {
        spin_lock(&proc_lock);
        old = p->fs;
        p->fs = mine;
        spin_unlock(&proc_lock);
    }
    fsctx_put(old);
    return err;
}

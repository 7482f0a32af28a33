/*
 * fork.c: clone(2) in all its forms, in the place of proc/fork.c: fork, vfork and threads. Flags
 * name the parts to share; the rest is copied; address spaces copy on write.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "bugs.h"
#include "file.h"
#include "klib.h"
#include "proc.h"
#include "fs/files.h"
#include "opt/clone/clone.h"
#include "syscall.h"
#include "vm.h"

static struct sigactions *sigacts_share(struct sigactions *s)
{
    atomic_add(&s->refs, 1);
    return s;
}

static struct files *files_share(struct files *t)
{
    atomic_add(&t->refs, 1);
    return t;
}

/* Fills in a new process; on failure the caller frees the parts that were made (abandon). */
static int copy_process(struct proc *child, struct proc *parent, u64 flags)
{
    memcpy(child->comm, parent->comm, sizeof(child->comm));
    /* A sibling has its creator's exit signal; a number above NSIG means that none is sent. */
    child->exit_signal = flags & CLONE_PARENT ? parent->exit_signal : (int)(flags & CLONE_CSIGNAL);
    if (child->exit_signal > NSIG)
        child->exit_signal = 0;
    child->exe = BUG(fork_exe_file) ? parent->exe : parent->exe ? file_get(parent->exe) : NULL;
    child->sigacts =
        flags & CLONE_SIGHAND ? sigacts_share(parent->sigacts) : sigacts_copy(parent->sigacts);
    BUG_NOTE(fork_exe_file, !child->sigacts);
    if (!child->sigacts)
        return -ENOMEM;
    if (flags & CLONE_CLEAR_SIGHAND)
        sigacts_exec(child, NULL);
    if (flags & CLONE_VM)
        vm_get(child->vm = parent->vm);
    else if (!(child->vm = vm_clone(parent->vm))) {
        BUG_NOTE(fork_exe_file, 1);
        return -ENOMEM;
    }
    if (BUG(fork_exe_file) && child->exe)
        file_get(child->exe);
    child->fs = flags & CLONE_FS ? fsctx_share(parent->fs) : fsctx_copy(parent->fs);
    child->files = flags & CLONE_FILES ? files_share(parent->files) : files_copy(parent->files);
    return child->fs && child->files ? 0 : -ENOMEM;
}

static int check_flags(u64 flags)
{
    if (flags & CLONE_THREAD && !(flags & CLONE_SIGHAND))
        return -EINVAL;
    if (flags & CLONE_SIGHAND && !(flags & CLONE_VM))
        return -EINVAL;
    if (flags & CLONE_PARENT && curproc == init_proc)
        return -EINVAL; /* init has no siblings */
    if (flags & CLONE_NAMESPACES)
        return -EINVAL; /* like a Linux that is built without namespaces */
    if (flags & CLONE_PIDFD && flags & (CLONE_THREAD | CLONE_DETACHED))
        return -EINVAL;
    if (flags & CLONE_CLEAR_SIGHAND && flags & CLONE_SIGHAND)
        return -EINVAL;
    return 0;
}

/* Frees the parts of a child whose creation failed. */
static long abandon(struct proc *p, struct thread *t, long pidfd, long error)
{
    if (t)
        thread_free(t);
    if (pidfd >= 0)
        fd_close((int)pidfd);
    if (p != curproc)
        proc_discard(p);
    return error;
}

long do_clone(const struct clone_request *rq)
{
    long error = check_flags(rq->flags), pidfd = -1;
    if (error)
        return error;
    bool new_proc = !(rq->flags & CLONE_THREAD);
    struct proc *p = new_proc ? proc_alloc() : curproc;
    if (!p)
        return -ENOMEM;
    error = new_proc ? copy_process(p, curproc, rq->flags) : 0;
    struct thread *t = error ? NULL : thread_alloc(p, current->name);
    if (!t)
        return abandon(p, NULL, -1, error ? error : -ENOMEM);
    child_copy_thread(t, rq);
    altstack_copy(t, rq->flags);
    if (rq->flags & CLONE_PIDFD)
        error = pidfd = pidfd_begin(p, rq->pidfd);
    if (error >= 0)
        error = child_publish(p, t, rq->flags & CLONE_PARENT);
    if (error)
        return abandon(p, t, pidfd, error);
    int tid = t->tid;
    bool vfork = rq->flags & CLONE_VFORK && new_proc;
    if (vfork)
        proc_get(p);
    child_put_tids(t, rq);
    kcov_thread_start(t, current);
    sched_start(t);
    if (vfork) {
        vfork_wait(p);
        proc_put(p);
    }
    return tid;
}

long sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 tls, u64 child_tid)
{
    struct clone_request rq = {(u32)flags, stack, parent_tid, child_tid, tls, parent_tid};
    if (flags & CLONE_PIDFD && flags & CLONE_PARENT_SETTID)
        return -EINVAL; /* both results would go to parent_tid */
    return do_clone(&rq);
}

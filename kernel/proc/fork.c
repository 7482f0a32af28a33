/*
 * fork.c: fork(2) and threads, in a kernel without the option CLONE. A thread shares everything
 * with its process, a child has a copy of everything; address spaces copy on write.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "file.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

#ifndef CONFIG_CLONE

#define SHARED (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND)
#define KNOWN                                                                                      \
    (CLONE_CSIGNAL | SHARED | CLONE_VFORK | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |          \
     CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_DETACHED | CLONE_CHILD_SETTID)

static int copy_process(struct proc *child, const struct proc *parent)
{
    memcpy(child->comm, parent->comm, sizeof(child->comm));
    child->exe = file_get(parent->exe);
    child->sigacts = sigacts_copy(parent->sigacts);
    child->vm = vm_clone(parent->vm);
    child->fs = fsctx_copy(parent->fs);
    child->files = files_copy(parent->files);
    return child->sigacts && child->vm && child->fs && child->files ? 0 : -ENOMEM;
}

long sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 tls, u64 child_tid)
{
    bool is_thread = flags & CLONE_THREAD;
    if (flags & CLONE_VFORK)
        flags &= ~(u64)CLONE_VM; /* a copy will do */
    struct clone_request rq = {flags, stack, parent_tid, child_tid, tls, 0};
    if (flags & ~(u64)KNOWN || (flags & SHARED) != (is_thread ? SHARED : 0))
        return -EINVAL;
    struct proc *p = is_thread ? curproc : proc_alloc();
    if (!p)
        return -ENOMEM;
    int error = is_thread ? 0 : copy_process(p, curproc);
    struct thread *t = error ? NULL : thread_alloc(p, current->name);
    if (t) {
        child_copy_thread(t, &rq);
        error = child_publish(p, t, false);
        if (error)
            thread_free(t);
    }
    if (!t || error) {
        if (!is_thread)
            proc_discard(p);
        return error ? error : -ENOMEM;
    }
    int tid = t->tid;
    child_put_tids(t, &rq);
    kcov_thread_start(t, current);
    sched_start(t);
    return tid;
}

#endif

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

static void copy_thread(struct thread *child, u64 flags, u64 stack, u64 tls, u64 child_tid)
{
    fp_sync();
    child->fp = current->fp;
    *child->tf = *current->tf;
    child->tf->a0 = 0;
    child->tf->syscall = ~0UL;
    if (stack)
        child->tf->sp = stack;
    if (flags & CLONE_SETTLS)
        child->tf->tp = tls;
    child->blocked = current->blocked;
    child->allowed_harts = current->allowed_harts;
    if (flags & CLONE_CHILD_CLEARTID)
        child->clear_tid = child_tid;
    if (flags & CLONE_CHILD_SETTID)
        child->set_tid = child_tid;
}

/* Makes the child visible; from here on signals and exits may reach it. */
static int publish(struct proc *p, struct thread *t)
{
    struct proc *parent = curproc;
    spin_lock(&proc_lock);
    if (current->exiting || (p == parent && parent->group_exit)) {
        spin_unlock(&proc_lock);
        return -EAGAIN;
    }
    t->tid = pid_alloc();
    if (p != parent) {
        p->pid = t->tid;
        p->pgid = parent->pgid;
        p->sid = parent->sid;
        for (const struct proc_part *part = __proc_parts_start; part < __proc_parts_end; part++)
            if (part->copy)
                part->copy(p, parent);
        proc_link(p, parent);
    }
    thread_link(t);
    spin_unlock(&proc_lock);
    return 0;
}

long sys_clone(u64 flags, u64 stack, u64 parent_tid, u64 tls, u64 child_tid)
{
    bool is_thread = flags & CLONE_THREAD;
    if (flags & CLONE_VFORK)
        flags &= ~(u64)CLONE_VM; /* a copy will do */
    if (flags & ~(u64)KNOWN || (flags & SHARED) != (is_thread ? SHARED : 0))
        return -EINVAL;
    struct proc *p = is_thread ? curproc : proc_alloc();
    if (!p)
        return -ENOMEM;
    int error = is_thread ? 0 : copy_process(p, curproc);
    struct thread *t = error ? NULL : thread_alloc(p, current->name);
    if (t) {
        copy_thread(t, flags, stack, tls, child_tid);
        error = publish(p, t);
        if (error)
            thread_free(t);
    }
    if (!t || error) {
        if (!is_thread)
            proc_discard(p);
        return error ? error : -ENOMEM;
    }
    int tid = t->tid;
    if (flags & CLONE_PARENT_SETTID)
        put_user(parent_tid, tid);
    kcov_thread_start(t, current);
    sched_start(t);
    return tid;
}

#endif

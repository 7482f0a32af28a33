/*
 * child.c: the steps of clone(2) that proc/fork.c and opt/clone/fork.c share. A new thread goes on
 * where its creator is; it is seen by others when it has all its parts.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "proc.h"
#include "proc/internal.h"
#include "vm.h"

void child_copy_thread(struct thread *child, const struct clone_request *rq)
{
    fp_sync();
    child->fp = current->fp;
    *child->tf = *current->tf;
    child->tf->a0 = 0;
    child->tf->syscall = ~0UL;
    if (rq->stack)
        child->tf->sp = rq->stack;
    if (rq->flags & CLONE_SETTLS)
        child->tf->tp = rq->tls;
    child->blocked = current->blocked;
    child->allowed_harts = current->allowed_harts;
    sched_inherit(child, current);
    if (rq->flags & CLONE_CHILD_CLEARTID)
        child->clear_tid = rq->child_tid;
}

int child_publish(struct proc *p, struct thread *t, bool sibling)
{
    struct proc *parent = curproc;
    spin_lock(&proc_lock);
    if (current->exiting || (p == parent && parent->group_exit) || !rlimit_allows_thread()) {
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
        proc_link(p, sibling ? parent->parent : parent);
        proc_tell(parent, PROC_FORKED, p->pid);
    }
    thread_link(t);
    spin_unlock(&proc_lock);
    return 0;
}

void child_put_tids(struct thread *t, const struct clone_request *rq)
{
    int tid = t->tid;
    if (rq->flags & CLONE_PARENT_SETTID)
        put_user(rq->parent_tid, tid);
    if (!(rq->flags & CLONE_CHILD_SETTID))
        return;
    if (rq->flags & CLONE_VM)
        put_user(rq->child_tid, tid);
    else
        t->set_tid = rq->child_tid;
}

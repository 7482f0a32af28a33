/*
 * wait.c: wait4(2) and waitid(2): the parent's side of exits, stops and continues, in the place of
 * proc/wait.c.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "bugs.h"
#include "klib.h"
#include "proc.h"
#include "opt/wait4/wait.h"
#include "syscall.h"
#include "vm.h"

static bool matches(const struct proc *child, const struct wait_request *rq)
{
    if (rq->type == P_PID && child->pid != rq->id)
        return false;
    if (rq->type == P_PGID && child->pgid != rq->id)
        return false;
    bool clone_child = child->exit_signal != SIGCHLD;
    return rq->options & WALL || clone_child == !!(rq->options & WCLONE);
}

void wait_describe(struct wait_result *out, const struct proc *child, int status)
{
    *out = (struct wait_result){.pid = child->pid, .status = status, .uid = child->uid};
    usage_get(out, child);
}

/* proc_lock held. Takes a wanted event of child; *reaped: the caller has to unlink child. */
static bool take_event(struct proc *child, const struct wait_request *rq, struct wait_result *out,
                       bool *reaped)
{
    if (child->state == PROC_ZOMBIE && rq->options & WEXITED) {
        wait_describe(out, child, child->wait_status);
        *reaped = !(rq->options & WNOWAIT);
        return true;
    }
    return take_stop(child, rq, out);
}

/* 1 with an event in *out; 0 if no child that matches has one; -ECHILD if no child matches. */
static long poll_children(const struct wait_request *rq, struct wait_result *out)
{
    struct proc *gone = NULL;
    long result = -ECHILD;
    spin_lock(&proc_lock);
    list_for_each(child, &curproc->children, struct proc, sibling) {
        bool reaped = false;
        if (!matches(child, rq))
            continue;
        result = 0;
        if (!take_event(child, rq, out, &reaped))
            continue;
        result = 1;
        if (reaped) {
            usage_keep(out);
            gone = child;
            proc_unlink(child);
        }
        break;
    }
    spin_unlock(&proc_lock);
    if (gone)
        proc_put(gone);
    return result;
}

long do_wait(const struct wait_request *rq, struct wait_result *out)
{
    long found = 0;
    if (rq->options & WNOHANG)
        return poll_children(rq, out);
    long error = wait_event_interruptible(&curproc->child_wait, (found = poll_children(rq, out)));
    return found ? found : error;
}

long sys_wait4(u64 pid_arg, u64 status_addr, u64 options, u64 rusage_addr)
{
    int pid = (int)pid_arg;
    /* 0x20000000, __WNOTHREAD, has no effect: a child belongs to its parent's whole process. */
    if (options & ~(u64)(WNOHANG | WUNTRACED | WCONTINUED | WCLONE | WALL | 0x20000000))
        return -EINVAL;
    BUG_NOTE_MORE(wait4_int_min, 1, (u32)pid ^ 0x80000000u);
    if (!BUG(wait4_int_min) && pid == (int)0x80000000) /* has no negation */
        return -ESRCH;
    struct wait_request rq = {.options = (u32)options | WEXITED};
    struct wait_result r;
    rq.type = pid == -1 ? P_ALL : pid > 0 ? P_PID : P_PGID;
    rq.id = pid > 0 ? pid : pid == 0 ? curproc->pgid : -pid;
    long found = do_wait(&rq, &r);
    if (found <= 0)
        return found;
    if (status_addr && put_user(status_addr, r.status))
        return -EFAULT;
    if (rusage_addr && put_rusage(rusage_addr, &r))
        return -EFAULT;
    return r.pid;
}

/*
 * Nice values and scheduling policies, with Linux's permission rules. Both belong to threads, so a
 * process number means the first thread of the process.
 *
 * Divergences: a nice value sets the length of a slice (sched_slice()); real-time policies need
 * Linux's permissions and are reported back, but run like SCHED_OTHER. SCHED_DEADLINE cannot be set
 * (there is no sched_setattr). A zombie has no thread (-ESRCH).
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "klib.h"
#include "opt/limits/numbers.h"
#include "proc.h"
#include "proc/each.h"
#include "syscall.h"
#include "vm.h"
#include "opt/priority/policies.h"

#define NICE_MIN    (-20)
#define NICE_MAX    19
#define RT_PRIO_MAX 99

/* Nice values */

enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER };

/* The criterion and the action of a walk over all threads. */
struct priority_walk {
    int which, who, nice;
    bool change;
    long result; /* -ESRCH: no thread matched yet */
};

/* The scale of RLIMIT_NICE and getpriority: from 40, the highest priority, down to 1. */
static int rank_of(int nice)
{
    return 20 - nice;
}

static bool same_owner(const struct proc *p)
{
    return !curproc->euid || curproc->euid == p->euid || curproc->euid == p->uid;
}

static bool may_be_nice(const struct proc *p, int nice)
{
    return !curproc->euid || (u64)rank_of(nice) <= p->rlimits[RLIMIT_NICE].cur;
}

static bool is_meant(const struct thread *t, const struct priority_walk *w)
{
    const struct proc *p = t->proc;
    if (p == &kernel_proc)
        return false;
    if (w->which == PRIO_PROCESS)
        return w->who ? t->tid == w->who : t == current;
    if (w->which == PRIO_PGRP)
        return p->pgid == (w->who ? w->who : curproc->pgid);
    return p->uid == (w->who ? (u32)w->who : curproc->uid);
}

static bool visit(struct thread *t, void *arg)
{
    struct priority_walk *w = arg;
    if (!is_meant(t, w))
        return true;
    if (!w->change)
        w->result = MAX(w->result, rank_of(t->nice));
    else if (!same_owner(t->proc))
        w->result = -EPERM;
    else if (w->nice < t->nice && !may_be_nice(t->proc, w->nice))
        w->result = -EACCES;
    else {
        t->nice = (i8)w->nice;
        w->result = w->result == -ESRCH ? 0 : w->result;
    }
    return true;
}

long sys_getpriority(u64 which, u64 who)
{
    struct priority_walk w = {(int)which, (int)who, 0, false, -ESRCH};
    if ((u32)which > PRIO_USER)
        return -EINVAL;
    thread_for_each(visit, &w);
    return w.result;
}

long sys_setpriority(u64 which, u64 who, u64 nice)
{
    int value = MIN(MAX((int)nice, NICE_MIN), NICE_MAX);
    struct priority_walk w = {(int)which, (int)who, value, true, -ESRCH};
    if ((u32)which > PRIO_USER)
        return -EINVAL;
    thread_for_each(visit, &w);
    return w.result;
}

/* Policies */

static bool is_real_time(int policy)
{
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool is_policy(int policy)
{
    return (policy >= SCHED_OTHER && policy <= SCHED_BATCH) || policy == SCHED_IDLE;
}

static struct thread *find(u64 pid)
{
    struct thread *t = (int)pid ? thread_find((int)pid) : current;
    return t && t->proc != &kernel_proc ? t : NULL;
}

/* May the caller, who is not the superuser, set this policy? */
static bool allowed(const struct thread *t, int policy, int priority, bool reset)
{
    u64 limit = t->proc->rlimits[RLIMIT_RTPRIO].cur;
    if (is_real_time(policy) &&
        ((policy != t->policy && !limit) || (priority > t->rt_priority && (u64)priority > limit)))
        return false;
    if (t->policy == SCHED_IDLE && policy != SCHED_IDLE && !may_be_nice(t->proc, t->nice))
        return false;
    return same_owner(t->proc) && (reset || !t->reset_on_fork);
}

/* policy < 0: leaves the policy unchanged. */
static long set_policy(u64 pid, int policy, u64 param)
{
    int priority, kind = policy & ~SCHED_RESET_ON_FORK;
    if (!param || (int)pid < 0)
        return -EINVAL;
    if (get_user(priority, param))
        return -EFAULT;
    spin_lock(&proc_lock);
    struct thread *t = find(pid);
    long error = t ? 0 : -ESRCH;
    if (t) {
        bool reset = policy < 0 ? t->reset_on_fork : policy & SCHED_RESET_ON_FORK;
        kind = policy < 0 ? t->policy : kind;
        if (!is_policy(kind) || priority < 0 || priority > RT_PRIO_MAX ||
            is_real_time(kind) != (priority != 0))
            error = -EINVAL;
        else if (curproc->euid && !allowed(t, kind, priority, reset))
            error = -EPERM;
        else
            t->policy = (u8)kind, t->rt_priority = (u8)priority, t->reset_on_fork = reset;
    }
    spin_unlock(&proc_lock);
    return error;
}

long sys_sched_setscheduler(u64 pid, u64 policy, u64 param)
{
    return (int)policy < 0 ? -EINVAL : set_policy(pid, (int)policy, param);
}

long sys_sched_setparam(u64 pid, u64 param)
{
    return set_policy(pid, -1, param);
}

long sys_sched_getscheduler(u64 pid)
{
    if ((int)pid < 0)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = find(pid);
    long policy = !t ? -ESRCH : t->policy | (t->reset_on_fork ? SCHED_RESET_ON_FORK : 0);
    spin_unlock(&proc_lock);
    return policy;
}

long sys_sched_getparam(u64 pid, u64 addr)
{
    if (!addr || (int)pid < 0)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = find(pid);
    int priority = t ? t->rt_priority : -1;
    spin_unlock(&proc_lock);
    return priority < 0 ? -ESRCH : put_user(addr, priority);
}

void sched_inherit(struct thread *child, const struct thread *parent)
{
    child->nice = parent->nice;
    child->policy = parent->policy;
    child->rt_priority = parent->rt_priority;
    if (!parent->reset_on_fork)
        return;
    if (is_real_time(child->policy))
        child->policy = SCHED_OTHER, child->rt_priority = 0, child->nice = 0;
    child->nice = MAX(child->nice, 0);
}

static long priority_range(u64 policy, long real_time)
{
    if (is_real_time((int)policy))
        return real_time;
    return is_policy((int)policy) || (int)policy == SCHED_DEADLINE ? 0 : -EINVAL;
}

long sys_sched_get_priority_max(u64 policy)
{
    return priority_range(policy, RT_PRIO_MAX);
}

long sys_sched_get_priority_min(u64 policy)
{
    return priority_range(policy, 1);
}

/* The length of a slice, for every policy: here all of them use slices. */
long sys_sched_rr_get_interval(u64 pid, u64 addr)
{
    if ((int)pid < 0)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = find(pid);
    i64 interval[2] = {0, t ? (i64)(sched_slice(t) * NS_PER_TICK) : 0};
    spin_unlock(&proc_lock);
    return !t ? -ESRCH : copyout(addr, interval, sizeof(interval));
}

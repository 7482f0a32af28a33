/* limits.c: the limits of processes, getrlimit(2) and its relatives. */
#include "abi/errno.h"
#include "klib.h"
#include "memlayout.h"
#include "opt/limits/numbers.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

u64 rlimit_get(int which)
{
    return curproc->rlimits[which].cur;
}

/* Threads of a user, and zombies as one each. */
static u64 count_threads(u32 uid)
{
    u64 n = 0;
    list_for_each(p, &all_procs, struct proc, in_all)
        if (p->uid == uid)
            n += p->nthreads ? (u64)p->nthreads : 1;
    return n;
}

bool rlimit_allows_thread(void)
{
    return count_threads(curproc->uid) < rlimit_get(RLIMIT_NPROC);
}

static void init_limits(struct proc *p)
{
    for (int i = 0; i < RLIM_COUNT; i++)
        p->rlimits[i] = (struct rlimit64){RLIM_INFINITY, RLIM_INFINITY};
    if (p == &kernel_proc)
        return;
    p->rlimits[RLIMIT_STACK].cur = USER_STACK_MAX;
    p->rlimits[RLIMIT_NOFILE] = (struct rlimit64){1024, 4096};
    p->rlimits[RLIMIT_NPROC] = (struct rlimit64){512, 512};
    p->rlimits[RLIMIT_CORE].cur = 0;
    p->rlimits[RLIMIT_NICE] = p->rlimits[RLIMIT_RTPRIO] = (struct rlimit64){0, 0};
}

static void copy_limits(struct proc *child, const struct proc *parent)
{
    memcpy(child->rlimits, parent->rlimits, sizeof(child->rlimits));
}

PROC_PART(limits) = {.init = init_limits, .copy = copy_limits};

static long set_limit(struct proc *p, int which, const struct rlimit64 *new)
{
    if (new->cur > new->max)
        return -EINVAL;
    if (new->max > p->rlimits[which].max && curproc->euid)
        return -EPERM;
    p->rlimits[which] = *new;
    return 0;
}

/* Other processes: the superuser, or one whose real ids are all the ids of the target. */
static bool may_limit(const struct proc *p)
{
    const struct proc *me = curproc;
    return p == me || !me->euid ||
           (me->uid == p->uid && me->uid == p->euid && me->uid == p->suid && me->gid == p->gid &&
            me->gid == p->egid && me->gid == p->sgid);
}

long sys_prlimit64(u64 pid, u64 which, u64 new_addr, u64 old_addr)
{
    struct rlimit64 new, old;
    if (which >= RLIM_COUNT)
        return -EINVAL;
    if (new_addr && copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    spin_lock(&proc_lock);
    struct proc *p = pid ? proc_find((int)pid) : curproc;
    long error = !p ? -ESRCH : may_limit(p) ? 0 : -EPERM;
    if (!error)
        old = p->rlimits[which];
    if (!error && new_addr)
        error = set_limit(p, (int)which, &new);
    spin_unlock(&proc_lock);
    return error || !old_addr ? error : copyout(old_addr, &old, sizeof(old));
}

long sys_getrlimit(u64 which, u64 addr)
{
    return sys_prlimit64(0, which, 0, addr);
}

long sys_setrlimit(u64 which, u64 addr)
{
    return sys_prlimit64(0, which, addr, 0);
}

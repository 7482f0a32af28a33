/* limits.c: getrlimit(2) and its relatives. */
#include "abi/errno.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

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

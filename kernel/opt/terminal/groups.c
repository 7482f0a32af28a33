/* groups.c: process groups and sessions (setpgid(2), setsid(2)). */
#include "abi/errno.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"

/* proc_lock held. */
static bool group_exists(int pgid)
{
    list_for_each(p, &all_procs, struct proc, in_all)
        if (p->pgid == pgid)
            return true;
    return false;
}

long sys_getpgid(u64 pid)
{
    spin_lock(&proc_lock);
    struct proc *p = pid ? proc_find((int)pid) : curproc;
    long pgid = p ? p->pgid : -ESRCH;
    spin_unlock(&proc_lock);
    return pgid;
}

long sys_getsid(u64 pid)
{
    spin_lock(&proc_lock);
    struct proc *p = pid ? proc_find((int)pid) : curproc;
    long sid = p ? p->sid : -ESRCH;
    spin_unlock(&proc_lock);
    return sid;
}

/* Is there a process group pgid in the session? proc_lock held. Tests its leader and the caller. */
static bool group_in_session(int pgid, int sid)
{
    struct proc *leader = proc_find(pgid);
    if (leader && leader->pgid == pgid)
        return leader->sid == sid;
    return curproc->pgid == pgid && curproc->sid == sid;
}

static long set_group(struct proc *p, int pgid)
{
    if (!p || (p != curproc && p->parent != curproc))
        return -ESRCH;
    if (p != curproc && p->execed)
        return -EACCES;
    if (p->sid == p->pid || p->sid != curproc->sid)
        return -EPERM;
    if (pgid != p->pid && !group_in_session(pgid, curproc->sid))
        return -EPERM;
    p->pgid = pgid;
    return 0;
}

long sys_setpgid(u64 pid, u64 pgid)
{
    if ((int)pgid < 0)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct proc *p = pid ? proc_find((int)pid) : curproc;
    long error = set_group(p, pgid ? (int)pgid : p ? p->pid : 0);
    spin_unlock(&proc_lock);
    return error;
}

/* setsid(2): the caller's number must not be that of a group, which its founder may have left. */
long sys_setsid(void)
{
    struct proc *p = curproc;
    spin_lock(&proc_lock);
    long result = p->pid;
    if (group_exists(p->pid)) {
        result = -EPERM;
    } else {
        p->sid = p->pgid = p->pid;
        p->tty = NULL;
        p->lost_pgrp = 0;
    }
    spin_unlock(&proc_lock);
    return result;
}

static void copy_groups(struct proc *child, const struct proc *parent)
{
    child->tty = parent->tty;
}

PROC_PART(terminal) = {.copy = copy_groups};

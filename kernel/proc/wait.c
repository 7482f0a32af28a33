/*
 * wait.c: wait4(2), the parent's side of an exit, in a kernel without the option WAIT4. All
 * processes are of one group, none stops, and nobody knows what a child used.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

#ifndef CONFIG_WAIT4

#define RUSAGE_BYTES 144

/* The number of a child that has ended and is gone now; 0: none has; -ECHILD: there is none. */
static long reap(int pid, int *status)
{
    struct proc *gone = NULL;
    long result = -ECHILD;
    spin_lock(&proc_lock);
    list_for_each(child, &curproc->children, struct proc, sibling) {
        if (pid > 0 ? child->pid != pid : pid < -1 && child->pgid + pid != 0)
            continue;
        result = 0;
        if (child->state != PROC_ZOMBIE)
            continue;
        result = child->pid;
        *status = child->wait_status;
        proc_unlink(child);
        gone = child;
        break;
    }
    spin_unlock(&proc_lock);
    if (gone)
        proc_put(gone);
    return result;
}

long sys_wait4(u64 pid_arg, u64 status_addr, u64 options, u64 rusage_addr)
{
    int pid = (int)pid_arg, status = 0;
    long found = 0, error = 0;
    if (options & ~(u64)(WNOHANG | WUNTRACED))
        return -EINVAL;
    if (options & WNOHANG)
        found = reap(pid, &status);
    else
        error = wait_event_interruptible(&curproc->child_wait, (found = reap(pid, &status)));
    if (found <= 0)
        return found ? found : error;
    if (status_addr && put_user(status_addr, status))
        return -EFAULT;
    if (rusage_addr && user_zero(rusage_addr, RUSAGE_BYTES))
        return -EFAULT;
    return found;
}

#endif

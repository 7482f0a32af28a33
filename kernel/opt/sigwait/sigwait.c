/* sigwait.c: the system calls that wait for signals, show pending ones, or send data with one. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "klib.h"
#include "opt/sigwait/sigwait.h"
#include "proc.h"
#include "opt/signals/signals.h"
#include "syscall.h"
#include "vm.h"

long sys_rt_sigpending(u64 addr, u64 size)
{
    if (size > sizeof(sigset_t))
        return -EINVAL;
    sigset_t set = (current->pending | curproc->pending) & current->blocked;
    return copyout(addr, &set, size);
}

long sys_rt_sigsuspend(u64 addr, u64 size)
{
    sigset_t set;
    if (size != sizeof(sigset_t))
        return -EINVAL;
    if (get_user(set, addr))
        return -EFAULT;
    struct waitq nobody = WAITQ_INIT(nobody);
    signal_mask_begin(set);
    wait_event_interruptible(&nobody, false);
    return -ERESTARTNOHAND;
}

long sys_rt_sigqueueinfo(u64 pid, u64 sig, u64 info_addr)
{
    siginfo_t info;
    if (copyin(&info, info_addr, sizeof(info)))
        return -EFAULT;
    if (sig > NSIG)
        return -EINVAL;
    if ((info.si_code >= 0 || info.si_code == SI_TKILL) && (int)pid != curproc->pid)
        return -EPERM;
    info.si_signo = (int)sig;
    return kill_one((int)pid, (int)sig, &info);
}

long sys_rt_tgsigqueueinfo(u64 tgid, u64 tid, u64 sig, u64 info_addr)
{
    siginfo_t info;
    if (copyin(&info, info_addr, sizeof(info)))
        return -EFAULT;
    if ((info.si_code >= 0 || info.si_code == SI_TKILL) && (int)tid != current->tid)
        return -EPERM;
    info.si_signo = (int)sig;
    return (int)tgid <= 0 ? -EINVAL : send_to_thread((int)tgid, (int)tid, (int)sig, &info);
}

int signal_take_wanted(sigset_t set, siginfo_t *info)
{
    spin_lock(&proc_lock);
    int sig = signal_take(current, set, info);
    spin_unlock(&proc_lock);
    return sig;
}

/* Senders read the set under the lock. */
static void set_wanted(sigset_t set)
{
    spin_lock(&proc_lock);
    current->sigwait_set = set;
    spin_unlock(&proc_lock);
}

bool signal_is_waiting(sigset_t set)
{
    return (current->pending | curproc->pending) & set;
}

long sys_rt_sigtimedwait(u64 set_addr, u64 info_addr, u64 timeout_addr, u64 size)
{
    sigset_t set;
    siginfo_t info;
    struct {
        i64 sec, nsec;
    } ts;
    u64 deadline = WAIT_FOREVER;
    if (size != sizeof(sigset_t))
        return -EINVAL;
    if (get_user(set, set_addr) || (timeout_addr && get_user(ts, timeout_addr)))
        return -EFAULT;
    set &= ~UNBLOCKABLE;
    if (timeout_addr) {
        if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= 1000000000)
            return -EINVAL;
        deadline = deadline_from(ts.sec, ts.nsec, false, CLOCK_MONOTONIC);
    }
    int sig = 0;
    set_wanted(set);
    long error =
        wait_event_timeout(&curproc->sig_wait, (sig = signal_take_wanted(set, &info)), deadline);
    set_wanted(0);
    if (!sig)
        return error == -ETIMEDOUT ? -EAGAIN : -EINTR;
    if (info_addr && copyout(info_addr, &info, sizeof(info)))
        return -EFAULT;
    return sig;
}

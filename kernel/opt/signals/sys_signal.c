/*
 * Signal system calls: dispositions, masks, sending, waiting.
 */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "opt/signals/signals.h"
#include "syscall.h"
#include "vm.h"

long sys_rt_sigaction(u64 sig, u64 new_addr, u64 old_addr, u64 size)
{
    struct k_sigaction new, old;
    if (size != sizeof(sigset_t) || sig < 1 || sig > NSIG)
        return -EINVAL;
    if (new_addr && (sig == SIGKILL || sig == SIGSTOP))
        return -EINVAL;
    if (new_addr && copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    if (new_addr && !may_handle(&new))
        return -ENOSYS;
    spin_lock(&proc_lock);
    struct k_sigaction *a = &curproc->sigacts->act[sig - 1];
    old = *a;
    if (new_addr) {
        *a = new;
        a->mask &= ~UNBLOCKABLE;
    }
    spin_unlock(&proc_lock);
    return old_addr ? copyout(old_addr, &old, sizeof(old)) : 0;
}

long sys_rt_sigprocmask(u64 how, u64 set_addr, u64 old_addr, u64 size)
{
    sigset_t set, old = current->blocked;
    if (size != sizeof(sigset_t))
        return -EINVAL;
    if (set_addr) {
        if (get_user(set, set_addr))
            return -EFAULT;
        set &= ~UNBLOCKABLE;
        sigset_t mask = how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set;
        if (how > SIG_SETMASK)
            return -EINVAL;
        spin_lock(&proc_lock);
        current->blocked = mask;
        spin_unlock(&proc_lock);
    }
    return old_addr ? put_user(old_addr, old) : 0;
}

long kill_one(int pid, int sig, const siginfo_t *info)
{
    spin_lock(&proc_lock);
    struct proc *p = proc_find(pid);
    long error = !p ? -ESRCH : !signal_allowed(p) ? -EPERM : 0;
    if (!error && sig)
        error = signal_send_proc_locked(p, sig, info);
    spin_unlock(&proc_lock);
    return error;
}

long sys_kill(u64 pid_arg, u64 sig)
{
    int pid = (int)pid_arg;
    siginfo_t info;
    if (sig > NSIG)
        return -EINVAL;
    siginfo_user(&info, (int)sig, SI_USER);
    if (pid > 0)
        return kill_one(pid, (int)sig, &info);
    return kill_group(pid, (int)sig, &info);
}

long send_to_thread(int tgid, int tid, int sig, const siginfo_t *info)
{
    if (tid <= 0 || tgid == 0 || sig < 0 || sig > NSIG)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = thread_find(tid);
    long error = !t || t->proc == &kernel_proc || (tgid > 0 && t->proc->pid != tgid) ? -ESRCH
                 : !signal_allowed(t->proc)                                          ? -EPERM
                                                                                     : 0;
    if (!error && sig)
        error = signal_send_thread_locked(t, sig, info);
    spin_unlock(&proc_lock);
    return error;
}

long sys_tkill(u64 tid, u64 sig)
{
    siginfo_t info;
    siginfo_user(&info, (int)sig, SI_TKILL);
    return send_to_thread(-1, (int)tid, (int)sig, &info);
}

long sys_tgkill(u64 tgid, u64 tid, u64 sig)
{
    siginfo_t info;
    siginfo_user(&info, (int)sig, SI_TKILL);
    return (int)tgid <= 0 ? -EINVAL : send_to_thread((int)tgid, (int)tid, (int)sig, &info);
}

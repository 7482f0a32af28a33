/*
 * signal.c: signals in a kernel without the option SIGNALS. There are no handlers and nothing stops
 * a process, so a signal is ignored, or it ends the process when a thread that does not block it
 * returns to user mode. Everything is under proc_lock.
 */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

#ifndef CONFIG_SIGNALS

#define IGNORED_BY_DEFAULT                                                                         \
    (SIGBIT(SIGCHLD) | SIGBIT(SIGCONT) | SIGBIT(SIGURG) | SIGBIT(SIGWINCH) | SIGBIT(SIGSTOP) |     \
     SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))

static bool ignored(const struct proc *p, int sig)
{
    u64 handler = sigaction_of(p, sig)->handler;
    return handler == SIG_IGN || (handler == SIG_DFL && SIGBIT(sig) & IGNORED_BY_DEFAULT);
}

/* A thread that blocks the signal goes back to sleep. */
static void poke(struct thread *t)
{
    thread_continue(t);
    sched_kick(t);
}

int signal_send_proc_locked(struct proc *p, int sig, const siginfo_t *info)
{
    if (p->state == PROC_ZOMBIE || p == &kernel_proc || ignored(p, sig))
        return 0;
    p->pending |= SIGBIT(sig);
    list_for_each(t, &p->threads, struct thread, in_proc)
        poke(t);
    return 0;
}

static void send_to_thread_locked(struct thread *t, int sig)
{
    if (ignored(t->proc, sig))
        return;
    t->pending |= SIGBIT(sig);
    poke(t);
}

int signal_send_thread(struct thread *t, int sig, const siginfo_t *info)
{
    spin_lock(&proc_lock);
    send_to_thread_locked(t, sig);
    spin_unlock(&proc_lock);
    return 0;
}

void signal_fault(int sig, int code, u64 addr)
{
    if (curproc == init_proc) /* ends the run, so the console gets the place */
        kprintf("init: %s: signal %d, code %d at pc %lx, address %lx\n", current->name, sig, code,
                current->tf->epc, addr);
    proc_exit_group(sig);
}

static sigset_t deliverable(const struct thread *t)
{
    return (t->pending | t->proc->pending) & ~t->blocked;
}

bool signal_pending(const struct thread *t)
{
    return deliverable(t);
}

bool kill_pending(const struct thread *t)
{
    return deliverable(t) & SIGBIT(SIGKILL);
}

void signal_deliver(struct trapframe *tf)
{
    sigset_t set = deliverable(current);
    if (current->exiting)
        thread_exit(curproc->group_exit_status);
    if (set)
        proc_exit_group(set & SIGBIT(SIGKILL) ? SIGKILL : __builtin_ctzl(set) + 1);
    if (tf->syscall != ~0UL) { /* it was interrupted, and starts again */
        tf->a0 = tf->orig_a0;
        tf->epc -= 4;
        tf->syscall = ~0UL;
    }
}

long sys_rt_sigaction(u64 sig, u64 new_addr, u64 old_addr, u64 size)
{
    struct k_sigaction new, old;
    if (size != sizeof(sigset_t) || sig < 1 || sig > NSIG)
        return -EINVAL;
    if (new_addr && SIGBIT(sig) & UNBLOCKABLE)
        return -EINVAL;
    if (new_addr && copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    if (new_addr && new.handler != SIG_DFL &&new.handler != SIG_IGN)
        return -ENOSYS;
    spin_lock(&proc_lock);
    struct k_sigaction *a = &curproc->sigacts->act[sig - 1];
    old = *a;
    if (new_addr)
        *a = new;
    if (ignored(curproc, (int)sig)) {
        curproc->pending &= ~SIGBIT(sig);
        list_for_each(t, &curproc->threads, struct thread, in_proc)
            t->pending &= ~SIGBIT(sig);
    }
    spin_unlock(&proc_lock);
    return old_addr ? copyout(old_addr, &old, sizeof(old)) : 0;
}

long sys_rt_sigprocmask(u64 how, u64 set_addr, u64 old_addr, u64 size)
{
    sigset_t set, old = current->blocked;
    if (size != sizeof(sigset_t) || (set_addr && how > SIG_SETMASK))
        return -EINVAL;
    if (set_addr && get_user(set, set_addr))
        return -EFAULT;
    if (set_addr) {
        sigset_t mask = how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set;
        current->blocked = mask & ~UNBLOCKABLE;
    }
    return old_addr ? put_user(old_addr, old) : 0;
}

long sys_kill(u64 pid, u64 sig)
{
    if (sig > NSIG)
        return -EINVAL;
    bool found = false;
    spin_lock(&proc_lock);
    list_for_each(p, &all_procs, struct proc, in_all) {
        if (p->pid != (int)pid && (int)pid != 0) /* 0: the group, which all belong to */
            continue;
        found = true;
        if (sig)
            signal_send_proc_locked(p, (int)sig, NULL);
    }
    spin_unlock(&proc_lock);
    return found ? 0 : -ESRCH;
}

long sys_tgkill(u64 tgid, u64 tid, u64 sig)
{
    if ((int)tgid <= 0 || (int)tid <= 0 || sig > NSIG)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct thread *t = thread_find((int)tid);
    bool found = t && t->proc->pid == (int)tgid;
    if (found && sig)
        send_to_thread_locked(t, (int)sig);
    spin_unlock(&proc_lock);
    return found ? 0 : -ESRCH;
}

#endif

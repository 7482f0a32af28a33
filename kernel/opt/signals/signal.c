/*
 * signal.c: sending signals: dispositions, pending signals, choosing the receiving thread. A
 * standard signal (1..31) is pending at most once, real-time ones are queued (opt/siginfo).
 * Everything is under proc_lock.
 */
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "opt/signals/signals.h"

static bool ignored(const struct proc *p, int sig)
{
    const struct k_sigaction *a = sigaction_of(p, sig);
    return a->handler == SIG_IGN || (a->handler == SIG_DFL && SIGBIT(sig) & IGNORED_BY_DEFAULT);
}

static int enqueue(sigset_t *pending, struct list *queue, int sig, const siginfo_t *info)
{
    if (sig < SIGRTMIN && *pending & SIGBIT(sig))
        return 0;
    *pending |= SIGBIT(sig);
    return siginfo_add(queue, sig, info);
}

static void poke(struct thread *t)
{
    thread_wake_from(t, 1u << THREAD_INTERRUPTIBLE);
    sched_kick(t);
}

static void poke_somebody(struct proc *p, int sig)
{
    list_for_each(t, &p->threads, struct thread, in_proc) {
        if (t->blocked & SIGBIT(sig) & ~t->sigwait_set && sig != SIGKILL)
            continue;
        poke(t);
        if (sig != SIGKILL && t->state == THREAD_RUNNABLE)
            return;
    }
}

int signal_send_proc_locked(struct proc *p, int sig, const siginfo_t *info)
{
    if (p->state == PROC_ZOMBIE || p == &kernel_proc)
        return 0;
    signal_side_effects(p, sig);
    proc_tell(p, PROC_SIGNALLED, sig);
    bool waited_for = false;
    list_for_each(t, &p->threads, struct thread, in_proc)
        waited_for |= !!((t->sigwait_set | t->blocked) & SIGBIT(sig));
    if (ignored(p, sig) && !waited_for)
        return 0;
    int error = enqueue(&p->pending, &p->sigqueue, sig, info);
    poke_somebody(p, sig);
    wake_up(&p->sig_wait);
    return error;
}

int signal_send_thread_locked(struct thread *t, int sig, const siginfo_t *info)
{
    int error = 0;
    signal_side_effects(t->proc, sig);
    proc_tell(t->proc, PROC_SIGNALLED, sig);
    if (!ignored(t->proc, sig) || (t->blocked | t->sigwait_set) & SIGBIT(sig)) {
        error = enqueue(&t->pending, &t->sigqueue, sig, info);
        poke(t);
        wake_up(&t->proc->sig_wait);
    }
    return error;
}

int signal_send_thread(struct thread *t, int sig, const siginfo_t *info)
{
    spin_lock(&proc_lock);
    int error = signal_send_thread_locked(t, sig, info);
    spin_unlock(&proc_lock);
    return error;
}

/*
 * The faulting instruction cannot go on without its signal: if that is blocked or ignored, it gets
 * its default action, which kills. Otherwise the program would fault without end.
 */
void signal_fault(int sig, int code, u64 addr)
{
    siginfo_t info;
    bool kills;
    siginfo_fault(&info, sig, code, addr);
    spin_lock(&proc_lock);
    struct k_sigaction *a = &curproc->sigacts->act[sig - 1];
    if (a->handler == SIG_IGN || current->blocked & SIGBIT(sig)) {
        a->handler = SIG_DFL;
        current->blocked &= ~SIGBIT(sig);
    }
    enqueue(&current->pending, &current->sigqueue, sig, &info);
    kills = a->handler == SIG_DFL;
    spin_unlock(&proc_lock);
    if (kills && curproc == init_proc) /* ends the run, so the console gets the place */
        kprintf("init: %s: signal %d, code %d at pc %lx, address %lx\n", current->name, sig, code,
                current->tf->epc, addr);
}

sigset_t signal_deliverable(const struct thread *t)
{
    return ~(t->blocked & ~UNBLOCKABLE);
}

bool signal_pending(const struct thread *t)
{
    return (t->pending | t->proc->pending) & signal_deliverable(t);
}

bool kill_pending(const struct thread *t)
{
    return (t->pending | t->proc->pending) & SIGBIT(SIGKILL);
}

static int lowest(sigset_t set)
{
    return set ? __builtin_ctzl(set) + 1 : 0;
}

/*
 * The order within set: SIGKILL, then faults (they belong to the interrupted instruction), then the
 * lowest number.
 */
int signal_take(struct thread *t, sigset_t set, siginfo_t *info)
{
    int sig = (t->proc->pending | t->pending) & SIGBIT(SIGKILL) & set ? SIGKILL : 0;
    if (!sig)
        sig = lowest(t->pending & set & SYNCHRONOUS_SIGNALS);
    if (!sig)
        sig = lowest((t->pending | t->proc->pending) & set);
    if (!sig)
        return 0;
    bool is_own = t->pending & SIGBIT(sig);
    if (!siginfo_take(t->proc, is_own ? &t->sigqueue : &t->proc->sigqueue, sig, info))
        *(is_own ? &t->pending : &t->proc->pending) &= ~SIGBIT(sig);
    return sig;
}

/* stop.c: processes that a signal stops and SIGCONT continues. */
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "opt/signals/signals.h"

#define STOP_SET (SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))

static void notify_stop(struct proc *p, int sig)
{
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    info.si_signo = SIGCHLD;
    info.si_code = CLD_STOPPED;
    info.kill.pid = p->pid;
    info.kill.uid = p->uid;
    info.kill.status = sig;
    if (!p->parent)
        return;
    if (!(sigaction_of(p->parent, SIGCHLD)->flags & SA_NOCLDSTOP))
        signal_send_proc_locked(p->parent, SIGCHLD, &info);
    wake_up(&p->parent->child_wait);
}

/* Divergence: the first thread that stops reports; the others stop on their way to user mode. */
void stop_process(int sig)
{
    struct proc *p = curproc;
    spin_lock(&proc_lock);
    if (p->state == PROC_RUNNING) {
        p->state = PROC_STOPPED;
        p->stop_signal = sig;
        p->stop_reported = false;
        notify_stop(p, sig);
        list_for_each(t, &p->threads, struct thread, in_proc)
            if (t != current) {
                thread_wake_from(t, 1u << THREAD_INTERRUPTIBLE);
                sched_kick(t);
            }
    }
    spin_unlock(&proc_lock);
}

/* Sleeps while the process is stopped; SIGCONT and SIGKILL end it. */
void wait_while_stopped(void)
{
    struct proc *p = curproc;
    while (atomic_load(&p->state) == PROC_STOPPED && !current->exiting) {
        spin_lock(&proc_lock);
        bool stopped = p->state == PROC_STOPPED && !current->exiting;
        if (stopped)
            current->state = THREAD_STOPPED;
        spin_unlock(&proc_lock);
        if (stopped)
            schedule();
    }
}

static void forget(sigset_t *pending, struct list *queue, sigset_t set)
{
    *pending &= ~set;
    list_for_each_safe(q, queue, struct sigqueued, link) {
        if (!(SIGBIT(q->info.si_signo) & set))
            continue;
        list_remove(&q->link);
        kfree(q);
    }
}

/* Stop signals discard a pending SIGCONT, and SIGCONT pending stop signals, of all threads. */
static void forget_everywhere(struct proc *p, sigset_t set)
{
    forget(&p->pending, &p->sigqueue, set);
    list_for_each(t, &p->threads, struct thread, in_proc)
        forget(&t->pending, &t->sigqueue, set);
}

static void continue_proc(struct proc *p)
{
    if (p->state == PROC_STOPPED) {
        p->state = PROC_RUNNING;
        p->continued = true;
        if (p->parent)
            wake_up(&p->parent->child_wait);
    }
    list_for_each(t, &p->threads, struct thread, in_proc)
        thread_continue(t);
}

/* Effects at the time of sending, whether or not the signal is ever delivered. */
void signal_side_effects(struct proc *p, int sig)
{
    if (sig == SIGCONT) {
        forget_everywhere(p, STOP_SET);
        continue_proc(p);
    } else if (SIGBIT(sig) & STOP_SET) {
        forget_everywhere(p, SIGBIT(SIGCONT));
    } else if (sig == SIGKILL) {
        continue_proc(p);
    }
}

/*
 * Delivering signals on the way to user mode: default actions, and restarting the system call that
 * was interrupted. opt/handlers runs handlers.
 */
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "opt/signals/signals.h"
#include "syscall.h"

/* No handler runs, so an interrupted call starts again. */
static void restart_syscall(struct trapframe *tf)
{
    i64 error = -(i64)tf->a0;

    if (tf->syscall != ~0UL && (error == ERESTARTSYS || error == ERESTARTNOINTR ||
                                error == ERESTARTNOHAND || error == ERESTART_RESTARTBLOCK))
        go_back_to_syscall(tf);
    tf->syscall = ~0UL;
}

static void default_action(int sig)
{
    if (SIGBIT(sig) & IGNORED_BY_DEFAULT)
        return;
    if (!(SIGBIT(sig) & STOP_SIGNALS))
        proc_exit_group(sig); /* Divergence: no core files, so no 0x80 bit */
    if (curproc != init_proc) /* nobody could continue it */
        stop_process(sig);
}

static int next_signal(siginfo_t *info, struct k_sigaction *act)
{
    spin_lock(&proc_lock);
    int sig = signal_take(current, signal_deliverable(current), info);
    if (sig)
        *act = *sigaction_of(curproc, sig);
    spin_unlock(&proc_lock);
    return sig;
}

void signal_deliver(struct trapframe *tf)
{
    siginfo_t info;
    struct k_sigaction act;
    wait_while_stopped();
    if (current->exiting)
        thread_exit(curproc->group_exit_status);
    int sig = next_signal(&info, &act);
    if (!sig) {
        restart_syscall(tf);
        signal_mask_end();
        return;
    }
    if (act.handler == SIG_DFL || act.handler == SIG_IGN) {
        if (act.handler == SIG_DFL)
            default_action(sig);
        return; /* trap/exit.c calls again while a signal is pending */
    }
    run_handler(act, sig, &info, tf);
}

/*
 * Delivering signals on the way to user mode: default actions, and restarting the system call that
 * was interrupted. opt/handlers runs handlers.
 */
#include "abi/errno.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/internal.h"
#include "riscv.h"
#include "syscall.h"

static void go_back_to_syscall(struct trapframe *tf)
{
    tf->a0 = tf->orig_a0;
    tf->epc -= 4;
}

/* handler: the one that runs next, or NULL. */
static void finish_syscall(struct trapframe *tf, const struct k_sigaction *handler)
{
    if (tf->syscall == ~0UL)
        return;
    switch (-(i64)tf->a0) {
    case ERESTARTSYS:
        if (handler && !(handler->flags & SA_RESTART))
            tf->a0 = (u64)-EINTR;
        else
            go_back_to_syscall(tf);
        break;
    case ERESTARTNOINTR:
        go_back_to_syscall(tf);
        break;
    case ERESTARTNOHAND:
    case ERESTART_RESTARTBLOCK:
        if (handler)
            tf->a0 = (u64)-EINTR;
        else
            go_back_to_syscall(tf);
        break;
    }
    tf->syscall = ~0UL;
}

static void default_action(int sig)
{
    switch (sig) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
        return;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        if (curproc != init_proc) /* nobody could continue it */
            stop_process(sig);
        return;
    default:
        proc_exit_group(sig); /* Divergence: no core files, so no 0x80 bit */
    }
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
        finish_syscall(tf, NULL);
        signal_mask_end();
        return;
    }
    if (act.handler == SIG_DFL || act.handler == SIG_IGN) {
        if (act.handler == SIG_DFL)
            default_action(sig);
        return; /* trap/exit.c calls again while a signal is pending */
    }
    finish_syscall(tf, &act);
    run_handler(act, sig, &info, tf);
}

/* signals.h: what the options about signals share. Locked functions need proc_lock. */
#pragma once
#include "opt/signals/numbers.h"
#include "proc/internal.h"

#define IGNORED_BY_DEFAULT (SIGBIT(SIGCHLD) | SIGBIT(SIGCONT) | SIGBIT(SIGURG) | SIGBIT(SIGWINCH))
#define STOP_SIGNALS       (SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))
/* Signals that come from the instruction that was executed. */
#define SYNCHRONOUS_SIGNALS                                                                        \
    (SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) | SIGBIT(SIGTRAP) | SIGBIT(SIGFPE))

/* opt/siginfo. Without it a signal is pending or not, and no program learns more. All locked. */
struct sigqueued {
    struct list link;
    siginfo_t info;
};
/* -EAGAIN: a real-time signal. */
OPTIONAL(CONFIG_SIGINFO, int, siginfo_add, (struct list *queue, int sig, const siginfo_t *info), 0)
/* Fills info from the oldest record of sig in a queue of p; true: another one is left. */
OPTIONAL(CONFIG_SIGINFO, bool, siginfo_take,
         (struct proc *p, struct list *queue, int sig, siginfo_t *info), false)
/* Fill info: from the current process or by a fault of its own. */
OPTIONAL(CONFIG_SIGINFO, void, siginfo_user, (siginfo_t *info, int sig, int code))
OPTIONAL(CONFIG_SIGINFO, void, siginfo_fault, (siginfo_t *info, int sig, int code, u64 addr))
int signal_send_thread_locked(struct thread *t, int sig, const siginfo_t *info);
/* Removes and returns the next pending signal of a set, or 0. Locked. */
int signal_take(struct thread *t, sigset_t set, siginfo_t *info);
sigset_t signal_deliverable(const struct thread *t); /* not blocked */

/* The interrupted system call runs again. */
static inline void go_back_to_syscall(struct trapframe *tf)
{
    tf->a0 = tf->orig_a0;
    tf->epc -= 4;
}

/* opt/handlers. Without it sigaction() refuses handlers with ENOSYS. */
OPTIONAL(CONFIG_HANDLERS, void, run_handler,
         (struct k_sigaction act, int sig, const siginfo_t *info, struct trapframe *tf))
static inline bool may_handle(const struct k_sigaction *act)
{
    return HAS_OPTION(CONFIG_HANDLERS) || act->handler == SIG_DFL || act->handler == SIG_IGN;
}

/* sys_signal.c: what kill and tgkill do with a siginfo. tgid -1: of any process. */
long kill_one(int pid, int sig, const siginfo_t *info);
long send_to_thread(int tgid, int tid, int sig, const siginfo_t *info);
/* May the current process signal it? */
OPTIONAL(CONFIG_CREDENTIALS, bool, signal_allowed, (const struct proc *p), true)

/* opt/terminal */
OPTIONAL(CONFIG_TERMINAL, void, stop_process, (int sig))
/* SIGCONT and SIGKILL end it. */
OPTIONAL(CONFIG_TERMINAL, void, wait_while_stopped, (void))
/* kill(2) of pid <= 0. */
OPTIONAL(CONFIG_TERMINAL, long, kill_group, (int pid, int sig, const siginfo_t *info), -ESRCH)
/* Locked. Effects at the time of sending, whether or not the signal is ever delivered. */
#ifdef CONFIG_TERMINAL
void signal_side_effects(struct proc *p, int sig);
#else
static inline void signal_side_effects(struct proc *p, int sig)
{
    if (sig == SIGKILL)
        list_for_each(t, &p->threads, struct thread, in_proc)
            thread_continue(t);
}
#endif
/* opt/timers */
/* Locked; by opt/siginfo. */
OPTIONAL(CONFIG_POSIX_TIMERS, void, posix_timer_delivered, (struct proc *p, siginfo_t *info))

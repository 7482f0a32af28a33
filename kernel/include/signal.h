/*
 * Signals, kernel side. Dispositions are per process, masks per thread; delivery happens on the way
 * to user mode.
 */
#pragma once
#include "types.h"
#include "optional.h"
#include "abi/signal.h"

struct proc;
struct thread;
struct trapframe;
struct waitq;

#define ERESTARTSYS           512 /* restart if the handler has SA_RESTART or there is none */
#define ERESTARTNOHAND        514 /* restart only without a handler */
#define ERESTARTNOINTR        513 /* always restart */
#define ERESTART_RESTARTBLOCK 516 /* EINTR after a handler, restart otherwise */

/* Any context. siginfo may be NULL (then SI_KERNEL). */
/* proc_lock held */
int signal_send_proc_locked(struct proc *p, int sig, const siginfo_t *info);
int signal_send_thread(struct thread *t, int sig, const siginfo_t *info);
/* A fault of the current thread: cannot be blocked or ignored. */
void signal_fault(int sig, int code, u64 addr);
bool signal_pending(const struct thread *t);
bool kill_pending(const struct thread *t);
/* opt/sigmask: a mask for ppoll, pselect, epoll_pwait, sigsuspend, until delivery or _end. */
void signal_mask_begin(sigset_t mask);
OPTIONAL(CONFIG_SIGMASK, void, signal_mask_end, (void))
OPTIONAL(CONFIG_SIGMASK, bool, signal_mask_is_borrowed, (void), false)

#define UNBLOCKABLE (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))
/* On the way to user mode: deliver what is pending; may not return (default action). */
void signal_deliver(struct trapframe *tf);

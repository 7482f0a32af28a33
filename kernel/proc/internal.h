/* Shared by the files of proc/. Locked functions need proc_lock. */
#pragma once
#include "abi/errno.h"
#include "proc.h"
#include "vm.h"
#include "optional.h"

/* proc.c */
int pid_alloc(void);                /* locked */
void thread_link(struct thread *t); /* locked */
void thread_unlink(struct thread *t);
struct proc *proc_alloc(void);
void proc_link(struct proc *p, struct proc *parent); /* locked */
extern struct list all_procs, all_threads;           /* (proc_lock) by in_all */
extern const struct proc_part __proc_parts_start[], __proc_parts_end[];

/* child.c */
struct clone_request {
    u64 flags;
    va_t stack, parent_tid, child_tid;
    u64 tls;
    va_t pidfd; /* opt/clone, with CLONE_PIDFD */
};
void child_copy_thread(struct thread *child, const struct clone_request *rq);
/* Makes the child visible; from here on signals and exits may reach it. 0, or -EAGAIN. */
int child_publish(struct proc *p, struct thread *t, bool sibling);
/* Stores the number of the new thread where the flags ask for it, before it runs. */
void child_put_tids(struct thread *t, const struct clone_request *rq);

/* exit.c */
void proc_unlink(struct proc *p);      /* locked */
void proc_discard(struct proc *p);     /* one that was never linked */
void proc_kill_others(struct proc *p); /* locked; all threads but the current one */

/* sigacts.c */
struct sigactions {
    int refs;
    struct k_sigaction act[NSIG];
};
struct sigactions *sigacts_new(void);
struct sigactions *sigacts_copy(const struct sigactions *s);
void sigacts_put(struct sigactions *s);
const struct k_sigaction *sigaction_of(const struct proc *p, int sig);
/* opt/siginfo. Without it a signal is pending or not, and no program learns more. Locked. */
OPTIONAL(CONFIG_SIGINFO, void, signal_flush, (struct list *queue))
OPTIONAL(CONFIG_SIGINFO, void, siginfo_child, (siginfo_t *info, const struct proc *child))
/* opt/exec */
/* Lets the parent return from vfork. */
OPTIONAL(CONFIG_EXEC, void, vfork_release, (struct proc *p))
/* opt/handlers */
OPTIONAL(CONFIG_HANDLERS, void, altstack_disable, (struct thread *t))
/* opt/system. Locked: the parent of child has ended. */
OPTIONAL(CONFIG_SYSTEM, void, signal_orphan, (struct proc *child))
/* opt/pidfd */
OPTIONAL(CONFIG_PIDFD, void, pidfd_tell_end, (struct proc *p))

/* opt/futex */
/* Wakes up to n; their number, or -errno. */
OPTIONAL(CONFIG_FUTEX, long, futex_wake_addr, (va_t addr, int n), 0)

/* opt/futexops */
OPTIONAL(CONFIG_FUTEX_OPS, void, futex_exit_robust, (struct thread *t))

/* times.c */
#define NS_PER_SEC 1000000000L
struct timespec {
    i64 sec, nsec;
};
struct timespec ns_to_timespec(u64 ns);
bool timespec_ok(const struct timespec *ts);
u64 saturating_ns(i64 sec, i64 nsec); /* the sum in ns, limited to about 126 years */
long clock_read(int clock, u64 *ns);  /* 0, or -EINVAL: there is no such clock */
/* opt/cpuclock */
/* -EINVAL: there is no such clock. */
OPTIONAL(CONFIG_CPUCLOCK, long, cpu_clock_ns, (int id, u64 *ns), -EINVAL)
/* clock_nanosleep(2) of a clock that does not advance with real time. */
OPTIONAL(CONFIG_CPUCLOCK, long, cpu_clock_nanosleep,
         (int id, bool absolute, va_t request, va_t remain), -EINVAL)
/* The result of an interrupted sleep; a relative one stores the time left at remain, if given. */
long sleep_ended_early(u64 left_ns, bool absolute, va_t remain);
/* opt/itimer, opt/timers */
OPTIONAL(CONFIG_ITIMER, void, itimer_stop, (struct proc *p))
/* At exec and exit; may sleep. */
OPTIONAL(CONFIG_POSIX_TIMERS, void, posix_timers_delete, (struct proc *p))
bool clock_is_real_time(int clock); /* false: a clock of CPU time, or no clock */
/* Ticks since boot at which a wait on this clock ends. */
u64 deadline_from(i64 sec, i64 nsec, bool absolute, int clock);

/* Shared by the files of proc/. Locked functions need proc_lock. */
#pragma once
#include "abi/errno.h"
#include "proc.h"
#include "vm.h"

/* proc.c */
int pid_alloc(void);                /* locked */
void thread_link(struct thread *t); /* locked */
void thread_unlink(struct thread *t);
struct proc *proc_alloc(void);
void proc_link(struct proc *p, struct proc *parent); /* locked */
int proc_count_user(u32 uid);                        /* locked */

/* exit.c */
void proc_unlink(struct proc *p);      /* locked */
void proc_discard(struct proc *p);     /* one that was never linked */
void vfork_release(struct proc *p);    /* lets the parent return from vfork */
void proc_kill_others(struct proc *p); /* locked; all threads but the current one */

/* signal.c */
struct sigactions {
    int refs;
    struct k_sigaction act[NSIG];
};
struct sigactions *sigacts_new(void);
struct sigactions *sigacts_share(struct sigactions *s);
struct sigactions *sigacts_copy(const struct sigactions *s);
void sigacts_put(struct sigactions *s);
/*
 * Handlers become SIG_DFL; SIG_IGN stays. If the table is shared, its copy in spare replaces it.
 * Takes over spare; NULL will do for a table that is not shared.
 */
void sigacts_exec(struct proc *p, struct sigactions *spare);
const struct k_sigaction *sigaction_of(const struct proc *p, int sig);
struct sigqueued {
    struct list link;
    siginfo_t info;
};
void signal_flush(struct list *queue); /* locked */
int signal_send_thread_locked(struct thread *t, int sig, const siginfo_t *info);
/* Removes and returns the next pending signal of a set, or 0. Locked. */
int signal_take(struct thread *t, sigset_t set, siginfo_t *info);
sigset_t signal_deliverable(const struct thread *t); /* not blocked */

/* signal_deliver.c: the alternate stack of the current thread, whose stack pointer is sp */
struct sigaltstack altstack_get(u64 sp); /* flags: SS_DISABLE, SS_ONSTACK or 0 */
long altstack_set(const struct sigaltstack *new, u64 sp);

void signal_user_info(siginfo_t *info, int sig, int code); /* from the current process */
bool signal_allowed(const struct proc *p);                 /* may the current process signal it? */

/* opt/pidfd */
#ifdef CONFIG_PIDFD
int pidfd_install(struct proc *p, u32 oflags);   /* a descriptor, or -errno */
struct proc *pidfd_proc(int fd, bool *nonblock); /* one reference, or NULL: not a pidfd */
#else
static inline int pidfd_install(struct proc *p, u32 oflags)
{
    return -EINVAL;
}
static inline struct proc *pidfd_proc(int fd, bool *nonblock)
{
    *nonblock = false;
    return NULL;
}
#endif

/* opt/futex */
#ifdef CONFIG_FUTEX
void futex_exit_robust(struct thread *t);
long futex_wake_addr(va_t addr, int n); /* wakes up to n; their number, or -errno */
#else
static inline void futex_exit_robust(struct thread *t) {}
static inline long futex_wake_addr(va_t addr, int n)
{
    return 0;
}
#endif

/* times.c */
struct timeval64 {
    i64 sec, usec;
};
struct timespec {
    i64 sec, nsec;
};
struct timespec ns_to_timespec(u64 ns);
bool timespec_ok(const struct timespec *ts);
u64 saturating_ns(i64 sec, i64 nsec); /* the sum in ns, limited to about 126 years */
struct rusage {
    struct timeval64 utime, stime;
    long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv,
        nsignals, nvcsw, nivcsw;
};
void rusage_times(struct rusage *ru, u64 utime_ticks, u64 stime_ticks);
struct timeval64 ticks_to_timeval(u64 ticks);
/* cpuclock.c */
struct cpu_clock {
    bool is_thread, only_user;
    int number;
    u64 id; /* never reused: tells a later owner of the number apart */
};
u64 proc_cpu_ticks(struct proc *p, bool only_user); /* locked */
/* Finds the target of a clock id; -EINVAL. to_read: a thread's own number names its process. */
long cpu_clock_find(int id, bool to_read, struct cpu_clock *clock);
bool cpu_clock_ticks(const struct cpu_clock *clock, u64 *ticks); /* locked; false: it is gone */
bool cpu_clock_read(const struct cpu_clock *clock, u64 *ticks);
u64 cpu_clock_look(u64 left); /* time of the next look at a clock, left ticks from its target */
/* 0: reached, or the process has ended; -EINTR with the rest in *left (ns); -EINVAL, -ESRCH. */
long cpu_clock_sleep(int id, u64 ns, bool absolute, u64 *left);
/* opt/itimer, opt/timers */
#ifdef CONFIG_ITIMER
void itimer_init(struct proc *p);
void itimer_stop(struct proc *p);
#else
static inline void itimer_init(struct proc *p) {}
static inline void itimer_stop(struct proc *p) {}
#endif
#ifdef CONFIG_POSIX_TIMERS
void posix_timers_delete(struct proc *p);                    /* exec, exit; may sleep */
void posix_timer_delivered(struct proc *p, siginfo_t *info); /* locked */
#else
static inline void posix_timers_delete(struct proc *p) {}
static inline void posix_timer_delivered(struct proc *p, siginfo_t *info) {}
#endif
bool clock_is_real_time(int clock); /* false: a clock of CPU time, or no clock */
/* Ticks since boot at which a wait on this clock ends. */
u64 deadline_from(i64 sec, i64 nsec, bool absolute, int clock);

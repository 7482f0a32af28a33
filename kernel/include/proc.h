/*
 * Processes and threads. A process owns an address space, descriptors and signal dispositions; the
 * scheduler runs threads. tp holds the current thread in the kernel, sscratch in user mode
 * (trap/entry.S).
 */
#pragma once
#include "types.h"
#include "list.h"
#include "lock.h"
#include "memlayout.h"
#include "wait.h"
#include "signal.h"
#include "taskq.h"
#include "timeout.h"
#include "trap.h"
#include "kcov.h"
#include "optional.h"
#include "abi/sched.h"

struct vm;
struct file;
struct files;
struct fsctx;
struct cpu;

/* Saved by context_switch(): ra, sp and the callee-saved registers. Known to proc/switch.S. */
struct context {
    u64 ra, sp, s[12];
};

struct fpstate {
    u64 f[32];
    u32 fcsr;
};

enum thread_state {
    THREAD_NEW,
    THREAD_RUNNABLE,      /* on the run queue, or running when cpu->running */
    THREAD_INTERRUPTIBLE, /* sleeping; signals wake it */
    THREAD_SLEEPING,      /* sleeping; signals do not */
    THREAD_KILLABLE,      /* sleeping; only a fatal signal wakes it */
    THREAD_STOPPED,       /* by a stop signal */
    THREAD_DEAD,
};

struct thread {
    /* Offsets known to assembly. */
    u64 kernel_sp;      /*   0: top of the kernel stack, below the frame of user mode */
    u64 scratch;        /*   8: trap entry parks user sp here */
    struct cpu *cpu;    /*  16: hart it runs on */
    struct context ctx; /*  24: .. 135 */
    struct kcov_thread kcov __attribute__((aligned(64))); /* 192: the kcov driver's own */

    struct fpstate fp;
    struct trapframe *tf; /* registers of user mode, at the top of the kernel stack */
    va_t stack;           /* lowest usable address of the kernel stack */
    int tid;
    u64 id; /* never reused */
    struct proc *proc;
    struct list in_proc; /* (proc_lock) */
    struct list in_all;  /* (proc_lock) */
    char name[16];
    void (*kthread_fn)(void *);
    void *kthread_arg;
    const struct work_origin *on_behalf_of;

    /* scheduler (sched_lock) */
    struct list run_link;
    u8 state;
    bool on_cpu;
    bool timed_out;
    u64 slice_end;
    u64 slept_since;   /* for the hung-task watch */
    u64 allowed_harts; /* bit per hart, sched_setaffinity */

    /* signals (proc_lock) */
    sigset_t blocked;
    sigset_t pending;
    struct list sigqueue;
    u64 sigwait_set;

    /* user-visible thread attributes */
    va_t clear_tid;       /* set_tid_address, CLONE_CHILD_CLEARTID */
    va_t set_tid;         /* CLONE_CHILD_SETTID: stored by the child itself at its start */
    struct cpu *fp_cpu;   /* its registers hold fp while its fp_owner is this thread */
    u32 saved_intr_depth; /* cpu->intr_depth while switched out (preempted by an interrupt) */
    bool exiting;         /* kill or exit_group asks it to exit */
#include "config.thread"  /* fields of options: thread.def (CONFIG_THREAD_FIELDS names them) */
};

/* opt/kqueue: observers of a process hear of its events. */
enum proc_event { PROC_FORKED, PROC_EXECUTED, PROC_EXITED, PROC_SIGNALLED };
/* proc_lock is held. */
OPTIONAL(CONFIG_KQUEUE, void, proc_tell, (struct proc *p, enum proc_event what, i64 data))

enum proc_state { PROC_RUNNING, PROC_STOPPED, PROC_ZOMBIE };

/* exit status as wait4 reports it: code << 8, or signal number (| 0x80 with core) */
struct proc {
    int refs; /* tree + temporary holders */
    int pid, pgid, sid;
    u64 id; /* never reused: names the process in work_origin */
    u8 state;
    char comm[16];

    /* (proc_lock) tree */
    struct proc *parent;
    struct list children, sibling, in_all;
    struct list threads;
    int nthreads, nlive;     /* all not yet reaped / not yet exiting */
    struct waitq child_wait; /* waited on by wait4 in this process */
    int wait_status;
    int exit_signal; /* sent to the parent, normally SIGCHLD */
    bool group_exit;
    int group_exit_status;
    bool execed;
    struct waitq thread_wait; /* exec waits here for its siblings to go */

    struct vm *vm;
    struct files *files;
    struct fsctx *fs;
    struct file *exe;

    u32 uid, euid, gid, egid;

    struct sigactions *sigacts;
    sigset_t pending;
    struct list sigqueue;
    struct waitq sig_wait; /* signalfd, sigtimedwait */

    u64 minflt;
#include "config.proc" /* fields of options: proc.def (CONFIG_PROC_FIELDS names them) */
};

/* The functions of an option for its fields; each may be 0. */
struct proc_part {
    void (*init)(struct proc *p); /* of a new process, whose bytes are 0 */
    /* With proc_lock, when the child becomes visible. */
    void (*copy)(struct proc *child, const struct proc *parent);
};
#define PROC_PART(id)                                                                              \
    static const struct proc_part id##_part                                                        \
        __attribute__((used, section(".proc_parts"), aligned(8)))

/* Per-hart state. Offset 0 is known to assembly. */
struct cpu {
    u32 intr_depth; /* 0: interrupts nested on this hart, counted by trap/entry.S */
    u32 index;      /* 4: 0 is the boot hart */
    u64 hartid;
    struct thread *running;
    struct thread *idle;
    int noff;    /* depth of irq_push_off */
    bool intena; /* interrupts were on before the first */
    volatile bool need_resched;
    volatile u32 ipi_pending;
    volatile bool online;
    struct vm *vm;           /* whose table is in satp */
    u64 next_timer;          /* earliest timeout this hart is responsible for; ~0 = none */
    u64 slice_timer;         /* end of the running thread's slice while others wait; ~0 = none */
    struct thread *fp_owner; /* whose floating-point registers are in the hart */
};

register struct thread *current_thread __asm__("tp");
#define current ((struct thread *)current_thread)
#define curproc (current->proc)
/* The hart we run on; stable only with interrupts off (or in the idle thread). */
#define this_cpu() (current->cpu)

extern struct cpu cpus[MAX_HARTS];
extern int ncpus;                 /* online */
u64 harts_online(void);           /* smp.c: bit i for cpus[i] */
extern struct spinlock proc_lock; /* process tree, signals; before sched_lock */
extern struct proc kernel_proc;   /* pid 0: owns kernel threads */
extern struct proc *init_proc;    /* pid 1 */

/* sched.c */
void sched_boot(u64 hartid); /* turns the boot context into cpus[0]'s idle thread */
struct thread *sched_make_idle(struct cpu *cpu);
void schedule(void); /* give up the hart; current->state says how long */
/* For long loops of the kernel, which is never preempted: lets waiting threads run. May sleep. */
static inline void sched_relax(void)
{
    if (unlikely(this_cpu()->need_resched))
        schedule();
}
#define SLICE_TICKS (TICKS_PER_SEC / 100)
/* Ticks, by its nice value. */
OPTIONAL(CONFIG_PRIORITY, u64, sched_slice, (const struct thread *t), SLICE_TICKS)
/* Nice value and policy. */
OPTIONAL(CONFIG_PRIORITY, void, sched_inherit, (struct thread *child, const struct thread *parent))
/* opt/cpuclock */
OPTIONAL(CONFIG_CPUCLOCK, void, account_switch, (struct thread *prev, struct thread *next, u64 now))
/* The current thread enters or leaves a system call. */
OPTIONAL(CONFIG_CPUCLOCK, void, account_syscall, (bool enters))
/* A thread of p ends; proc_lock is held. */
OPTIONAL(CONFIG_CPUCLOCK, void, account_exit, (struct proc *p, const struct thread *t))
void sched_tick(void); /* timer interrupt: end of a slice? */
void thread_wake(struct thread *t);
void thread_wake_from(struct thread *t, u32 states); /* if its state is in the set */
void thread_continue(struct thread *t);              /* SIGCONT, SIGKILL: also stopped ones */
void sched_start(struct thread *t);                  /* first time on the run queue */
void sched_set_affinity(struct thread *t, u64 harts);
void sched_kick(struct thread *t); /* if it runs on another hart, makes it test its flags soon */
void thread_main(struct thread *prev);
__noreturn void sched_idle(void);

/* Programs the hart's timer for its next timeout or the end of the slice (sync/timeout.c). */
void timer_program(struct cpu *cpu);

/* switch.c, switch.S */
struct thread *context_switch(struct thread *prev, struct thread *next);
struct thread *swtch(struct thread *prev, struct thread *next);
void thread_entry(void);
void fp_save(struct fpstate *fp);
void fp_restore(const struct fpstate *fp);
/* Saves the floating-point registers of current, if the hart holds them, in current->fp. */
void fp_sync(void);
void fp_first(void);

/* thread.c */
struct thread *thread_alloc(struct proc *p, const char *name);
void thread_free(struct thread *t);

/* kernel threads */
struct thread *kthread_create(const char *name, void (*fn)(void *), void *arg);

/* proc.c */
struct proc *proc_find(int pid);     /* proc_lock held */
struct thread *thread_find(int tid); /* proc_lock held */
struct proc *proc_get(struct proc *p);
void proc_put(struct proc *p);
void proc_init(void);
void init_start(void); /* the first user process */

/* exit.c: do not return */
__noreturn void thread_exit(int status);
__noreturn void proc_exit_group(int wait_status);

/* exec.c */
int exec_load(const char *path, char *const *argv, char *const *envp);

/* opt/limits. Of the current process. */
OPTIONAL(CONFIG_LIMITS, u64, rlimit_get, (int which), RLIM_INFINITY)
/* Locked. Does RLIMIT_NPROC allow one thread more? */
OPTIONAL(CONFIG_LIMITS, bool, rlimit_allows_thread, (void), true)

extern char node_name[65], domain_name[65]; /* sys_misc.c: uname(2) */

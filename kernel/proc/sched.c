/* kcov: not instrumented on linux: the scheduler */
/*
 * Scheduler: one queue of runnable threads under one lock for all harts, round robin with slices of
 * 10 ms (opt/priority: from 0.5 ms to 20 ms). Kernel code is never preempted; user
 * code is, on return from the interrupt that ended its slice. The lock is held across a context
 * switch and released by the thread that was switched to, so a thread is never on the queue and on
 * a hart at once.
 */
#include "abi/sched.h"
#include "irq.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "sbi.h"
#include "vm.h"

struct cpu cpus[MAX_HARTS];
int ncpus = 1;
struct thread boot_thread;
extern char boot_stack[];

static struct spinlock sched_lock = SPINLOCK_INIT("sched");
static struct list run_queue = LIST_INIT(run_queue);

static void init_idle(struct thread *t, struct cpu *cpu)
{
    t->cpu = cpu;
    t->proc = &kernel_proc;
    t->state = THREAD_RUNNABLE;
    t->on_cpu = true;
    strlcpy(t->name, "idle", sizeof(t->name));
    list_init(&t->run_link);
    list_init(&t->sigqueue);
    list_init(&t->in_proc);
    list_init(&t->in_all);
    cpu->idle = cpu->running = t;
    cpu->next_timer = cpu->slice_timer = ~0UL;
}

void sched_boot(u64 hartid)
{
    cpus[0].hartid = hartid;
    cpus[0].online = true;
    boot_thread.stack = (va_t)boot_stack;
    boot_thread.kernel_sp = (va_t)boot_stack + KSTACK_SIZE;
    init_idle(&boot_thread, &cpus[0]);
}

struct thread *sched_make_idle(struct cpu *cpu)
{
    struct thread *t = thread_alloc(&kernel_proc, "idle");
    if (!t)
        panic("out of memory for the idle thread of hart %lu", cpu->hartid);
    t->kernel_sp = t->stack + KSTACK_SIZE;
    init_idle(t, cpu);
    return t;
}

void timer_program(struct cpu *cpu)
{
    sbi_set_timer(MIN(cpu->next_timer, cpu->slice_timer));
}

/* Another thread waits for this hart: programs the end of the current slice. */
static void arm_slice(struct cpu *cpu)
{
    if (cpu->slice_timer != ~0UL || cpu->running == cpu->idle)
        return;
    cpu->slice_timer = MAX(cpu->running->slice_end, read_time() + 1);
    if (cpu->slice_timer < cpu->next_timer)
        timer_program(cpu);
}

static bool may_run(const struct thread *t, const struct cpu *cpu)
{
    return cpu->online && t->allowed_harts & 1UL << cpu->index;
}

static struct cpu *find_idle_cpu(const struct thread *t)
{
    for (int i = 0; i < MAX_HARTS; i++)
        if (may_run(t, &cpus[i]) && cpus[i].running == cpus[i].idle && !cpus[i].need_resched)
            return &cpus[i];
    return NULL;
}

static void kick(struct cpu *cpu)
{
    cpu->need_resched = true;
    if (cpu != this_cpu())
        ipi_send(cpu, IPI_RESCHED);
}

/* t waits: kicks an idle hart that may run it or, without one, all that may. */
static void kick_elsewhere(const struct thread *t)
{
    struct cpu *idle = find_idle_cpu(t);
    for (int i = 0; i < MAX_HARTS; i++)
        if (idle ? &cpus[i] == idle : may_run(t, &cpus[i]))
            kick(&cpus[i]);
}

/* sched_lock held. A woken kernel thread preempts a user program; a user thread waits its turn. */
static void enqueue(struct thread *t, bool woken)
{
    list_push_back(&run_queue, &t->run_link);
    struct cpu *me = this_cpu();
    bool mine = may_run(t, me);
    if (mine && me->running == me->idle) {
        kick(me);
    } else if (!mine || find_idle_cpu(t)) {
        kick_elsewhere(t);
    } else {
        if (woken && t->proc == &kernel_proc && current->proc != &kernel_proc)
            me->need_resched = true;
        arm_slice(me);
    }
}

static struct thread *pick_next(struct cpu *cpu)
{
    list_for_each(t, &run_queue, struct thread, run_link) {
        if (!may_run(t, cpu))
            continue;
        list_remove(&t->run_link);
        return t;
    }
    return cpu->idle;
}

/* Runs on the stack of the thread that was switched to, with sched_lock still held. */
static void finish_switch(struct thread *prev)
{
    bool dead = prev->state == THREAD_DEAD;
    spin_unlock(&sched_lock);
    if (dead)
        thread_free(prev);
}

void schedule(void)
{
    kcov_sched_enter();
    spin_lock(&sched_lock);
    struct cpu *cpu = this_cpu();
    struct thread *prev = current;
    if (unlikely(cpu->noff != 1))
        panic("thread %d sleeps with %d spinlocks held", prev->tid, cpu->noff - 1);
    u64 now = read_time();
    cpu->need_resched = false;
    cpu->slice_timer = ~0UL;
    if (prev->state == THREAD_RUNNABLE && prev != cpu->idle) {
        list_push_back(&run_queue, &prev->run_link);
        if (!may_run(prev, cpu)) /* its affinity has changed */
            kick_elsewhere(prev);
    } else {
        prev->slept_since = now;
    }
    struct thread *next = pick_next(cpu);
    account_switch(prev, next, now);
    next->slice_end = now + sched_slice(next);
    if (next != cpu->idle && !list_empty(&run_queue)) {
        cpu->slice_timer = next->slice_end;
        timer_program(cpu);
    }
    if (next == prev) {
        spin_unlock(&sched_lock);
    } else {
        bool intena = cpu->intena;
        prev = context_switch(prev, next);
        this_cpu()->intena = intena;
        finish_switch(prev);
    }
    kcov_sched_leave();
}

void sched_tick(void)
{
    struct cpu *cpu = this_cpu();
    if (cpu->slice_timer > read_time())
        return;
    cpu->slice_timer = ~0UL;
    cpu->need_resched = true;
}

void thread_wake_from(struct thread *t, u32 states)
{
    spin_lock(&sched_lock);
    if (1u << t->state & states) {
        t->state = THREAD_RUNNABLE;
        if (!t->on_cpu)
            enqueue(t, true);
    }
    spin_unlock(&sched_lock);
}

void thread_wake(struct thread *t)
{
    thread_wake_from(t, 1u << THREAD_INTERRUPTIBLE | 1u << THREAD_SLEEPING | 1u << THREAD_KILLABLE);
}

void thread_continue(struct thread *t)
{
    thread_wake_from(t, 1u << THREAD_STOPPED | 1u << THREAD_INTERRUPTIBLE | 1u << THREAD_KILLABLE);
}

void sched_start(struct thread *t)
{
    spin_lock(&sched_lock);
    t->state = THREAD_RUNNABLE;
    enqueue(t, false);
    spin_unlock(&sched_lock);
}

void sched_kick(struct thread *t)
{
    spin_lock(&sched_lock);
    struct cpu *cpu = t->on_cpu ? t->cpu : NULL;
    if (cpu && cpu != this_cpu())
        ipi_send(cpu, IPI_RESCHED);
    spin_unlock(&sched_lock);
}

/* A queued thread is offered to its new harts; one that runs where it must not is preempted. */
void sched_set_affinity(struct thread *t, u64 harts)
{
    spin_lock(&sched_lock);
    t->allowed_harts = harts;
    if (t->on_cpu && !may_run(t, t->cpu))
        kick(t->cpu);
    else if (t->state == THREAD_RUNNABLE && !t->on_cpu)
        kick_elsewhere(t);
    spin_unlock(&sched_lock);
}

/* The C part of thread_entry: finishes the switch, then runs the kernel thread or the program. */
void thread_main(struct thread *prev)
{
    this_cpu()->intena = true;
    fp_first();
    finish_switch(prev);
    if (current->kthread_fn) {
        current->kthread_fn(current->kthread_arg);
        thread_exit(0);
    }
    if (current->set_tid)
        put_user(current->set_tid, current->tid);
    trap_return(current->tf);
}

void sched_idle(void)
{
    for (;;) {
        irq_disable();
        if (!this_cpu()->need_resched)
            wfi();
        irq_enable();
        if (this_cpu()->need_resched)
            schedule();
    }
}

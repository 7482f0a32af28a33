/*
 * Timeouts: one list sorted by time (equal times run in the order they were set), one lock. The
 * hart that sets the earliest entry programs its own timer. The hart whose timer fires runs all
 * entries that are due and programs its timer for the next, even if its own entry was cancelled
 * meanwhile, so cancelling one entry never delays another.
 */
#include "timeout.h"
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"

static struct spinlock timeout_lock = SPINLOCK_INIT("timeout");
static struct list pending = LIST_INIT(pending);
static struct taskq *timeout_taskq;
static u64 boot_ticks;
static i64 wall_offset_ns; /* wall time at monotonic 0 */

u64 time_now(void)
{
    return read_time() - boot_ticks;
}

u64 time_now_ns(void)
{
    return time_now() * NS_PER_TICK;
}

u64 time_wall_ns(void)
{
    return time_now_ns() + (u64)wall_offset_ns;
}

void time_set_wall_ns(u64 ns)
{
    wall_offset_ns = (i64)(ns - time_now_ns());
}

void timeout_init(void)
{
    boot_ticks = read_time();
    rtc_read();
}

void timeout_start_thread(void)
{
    timeout_taskq = taskq_create("softclock");
}

void timeout_init_entry(struct timeout *t, enum timeout_kind kind, void (*fn)(void *), void *arg)
{
    memset(t, 0, sizeof(*t));
    list_init(&t->link);
    t->kind = (u8)kind;
    t->fn = fn;
    t->arg = arg;
    task_init(&t->task, fn, arg);
}

static void insert(struct timeout *t)
{
    struct list *after = pending.prev;
    while (after != &pending && list_entry(after, struct timeout, link)->when > t->when)
        after = after->prev;
    list_push_front(after, &t->link);
}

static void program_first(struct cpu *cpu)
{
    cpu->next_timer =
        list_empty(&pending) ? ~0UL : list_first(&pending, struct timeout, link)->when + boot_ticks;
    timer_program(cpu);
}

void timeout_set(struct timeout *t, u64 when)
{
    spin_lock(&timeout_lock);
    list_remove(&t->link);
    t->when = when;
    t->armed = true;
    work_origin_capture(&t->task.origin);
    insert(t);
    if (pending.next == &t->link)
        program_first(this_cpu());
    spin_unlock(&timeout_lock);
}

/*
 * A running callback may arm its entry again, and that may even fire on another hart before the
 * first call has ended. So each round disarms and counts callbacks under one hold of the lock.
 */
void timeout_cancel_sync(struct timeout *t)
{
    u32 busy;
    do {
        spin_lock(&timeout_lock);
        t->armed = false;
        list_remove(&t->link);
        busy = t->running;
        spin_unlock(&timeout_lock);
    } while (busy); /* on another hart, with interrupts off there: short */
    if (t->kind == TIMEOUT_THREAD) {
        task_del(&t->task);
        taskq_barrier(timeout_taskq);
    }
}

static void fire(struct timeout *t)
{
    struct work_origin origin = t->task.origin;

    list_remove(&t->link);
    t->armed = false;
    atomic_add(&t->running, 1); /* timeout_cancel_sync waits for 0, so t stays valid until then */
    spin_unlock(&timeout_lock);
    if (t->kind == TIMEOUT_THREAD) {
        task_add_for(timeout_taskq, &t->task, &origin);
    } else {
        kcov_remote_enter(&origin, true); /* a copy: the callback may re-arm t */
        t->fn(t->arg);
        kcov_remote_leave();
    }
    atomic_sub(&t->running, 1);
    spin_lock(&timeout_lock);
}

void timeout_run(void)
{
    struct cpu *cpu = this_cpu();
    u64 now = time_now();
    spin_lock(&timeout_lock);
    while (!list_empty(&pending) && list_first(&pending, struct timeout, link)->when <= now)
        fire(list_first(&pending, struct timeout, link));
    program_first(cpu);
    spin_unlock(&timeout_lock);
}

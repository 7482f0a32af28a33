/* kcov: not instrumented on linux: part of the scheduler */
/*
 * Wait queues and sleeping. The order that loses no wake-up: join the queue, set the sleeping state
 * (sleep_prepare), test the condition, sleep (sleep_commit). A wake-up in between makes the thread
 * runnable again, so that sleep_commit returns at once.
 */
#include "wait.h"
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"

void waitq_init(struct waitq *q)
{
    spin_init(&q->lock, "waitq");
    list_init(&q->waiters);
}

static void wake_thread(struct waiter *w, u32 events)
{
    (void)events;
    thread_wake(w->thread);
}

void waiter_init(struct waiter *w)
{
    list_init(&w->node);
    w->queue = NULL;
    w->thread = current;
    w->wake = wake_thread;
    w->arg = NULL;
}

void waitq_add(struct waitq *q, struct waiter *w)
{
    spin_lock(&q->lock);
    w->queue = q;
    list_push_back(&q->waiters, &w->node);
    spin_unlock(&q->lock);
}

void waitq_remove(struct waiter *w)
{
    if (!w->queue)
        return;
    spin_lock(&w->queue->lock);
    list_remove(&w->node);
    spin_unlock(&w->queue->lock);
    w->queue = NULL;
}

void wake_up_events(struct waitq *q, u32 events)
{
    spin_lock(&q->lock);
    list_for_each_safe(w, &q->waiters, struct waiter, node)
        w->wake(w, events);
    spin_unlock(&q->lock);
}

/* The woken thread removes itself from the queue only later, so it moves to the end: the next call
 * wakes another. */
void wake_up_one(struct waitq *q)
{
    spin_lock(&q->lock);
    if (!list_empty(&q->waiters)) {
        struct waiter *w = list_first(&q->waiters, struct waiter, node);
        list_remove(&w->node);
        list_push_back(&q->waiters, &w->node);
        w->wake(w, 0);
    }
    spin_unlock(&q->lock);
}

void sleep_prepare(enum sleep_how how)
{
    static const u8 states[] = {[SLEEP_UNINTERRUPTIBLE] = THREAD_SLEEPING,
                                [SLEEP_KILLABLE] = THREAD_KILLABLE,
                                [SLEEP_INTERRUPTIBLE] = THREAD_INTERRUPTIBLE};
    atomic_store(&current->state, states[how]);
    mb();
}

void sleep_cancel(void)
{
    atomic_store(&current->state, THREAD_RUNNABLE);
}

static void sleep_timed_out(void *arg)
{
    struct thread *t = arg;
    t->timed_out = true;
    thread_wake(t);
}

/* Does a signal or the thread's exit forbid sleeping in this state? */
static bool is_disturbed(u8 state)
{
    if (state == THREAD_INTERRUPTIBLE)
        return signal_pending(current) || current->exiting;
    return state == THREAD_KILLABLE && (kill_pending(current) || current->exiting);
}

long sleep_commit(u64 deadline)
{
    lockdebug_assert_may_sleep();
    u8 state = current->state;
    if (is_disturbed(state)) {
        sleep_cancel();
        return -ERESTARTSYS;
    }
    if (deadline == WAIT_FOREVER) {
        schedule();
    } else {
        struct timeout timer;
        if (time_now() >= deadline) {
            sleep_cancel();
            return -ETIMEDOUT;
        }
        timeout_init_entry(&timer, TIMEOUT_IRQ, sleep_timed_out, current);
        current->timed_out = false;
        timeout_set(&timer, deadline);
        schedule();
        timeout_cancel_sync(&timer);
        if (current->timed_out || time_now() >= deadline)
            return -ETIMEDOUT;
    }
    if (is_disturbed(state))
        return -ERESTARTSYS;
    return 0;
}

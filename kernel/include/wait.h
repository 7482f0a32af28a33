/*
 * Sleeping until a condition holds.
 *
 *     wait_event(&q, cond)                          uninterruptible
 *     wait_event_interruptible(&q, cond)            0, or -ERESTARTSYS when a signal is pending
 *     wait_event_killable(&q, cond)                 ditto, when a fatal signal is pending
 *     wait_event_timeout(&q, cond, deadline)        as _interruptible, or -ETIMEDOUT; deadline is
 *                                                   in ticks of time_now(), WAIT_FOREVER = none
 *     wait_event_locked(&q, &spinlock, cond)        cond is evaluated with the spinlock held, which
 *                                                   is dropped while sleeping and held on return
 *
 * The condition is evaluated after the thread is on the queue, so a wake-up between the test and
 * the sleep is not lost. Code that makes the condition true calls wake_up() afterwards. Poll-like
 * waiting on many queues: one struct waiter per queue with its own wake function.
 */
#pragma once
#include "types.h"
#include "lock.h"
#include "list.h"

struct thread;

#define WAIT_FOREVER (~0UL)

/* One thread (or callback) on one queue. wake() runs with the queue's lock held: no sleeping. */
struct waiter {
    struct list node;
    struct waitq *queue;
    struct thread *thread;
    void (*wake)(struct waiter *w, u32 events);
    void *arg;
};

void waitq_init(struct waitq *q);
/* Put w on q; w->thread = current and w->wake = "make it runnable" unless set by the caller. */
void waiter_init(struct waiter *w);
void waitq_add(struct waitq *q, struct waiter *w);
void waitq_remove(struct waiter *w);

/* Wake all, or the first, with the poll events that became true (0 = unspecified). */
void wake_up_events(struct waitq *q, u32 events);
void wake_up_one(struct waitq *q);
static inline void wake_up(struct waitq *q)
{
    wake_up_events(q, 0);
}

/*
 * The pieces of the macros below, for hand-written loops:
 *   sleep_prepare(how) - from now on a wake-up makes the next sleep_commit() return at once
 *   sleep_commit(deadline) - give up the hart; 0, -ERESTARTSYS or -ETIMEDOUT
 *   sleep_cancel() - the condition was true, do not sleep
 */
enum sleep_how { SLEEP_UNINTERRUPTIBLE, SLEEP_KILLABLE, SLEEP_INTERRUPTIBLE };
void sleep_prepare(enum sleep_how how);
long sleep_commit(u64 deadline);
void sleep_cancel(void);

#define WAIT_LOOP(q, cond, how, deadline, before, after)                                           \
    ({                                                                                             \
        long wait_result = 0;                                                                      \
        struct waiter wait_entry;                                                                  \
        waiter_init(&wait_entry);                                                                  \
        waitq_add((q), &wait_entry);                                                               \
        for (;;) {                                                                                 \
            sleep_prepare(how);                                                                    \
            if (cond) {                                                                            \
                wait_result = 0;                                                                   \
                break;                                                                             \
            }                                                                                      \
            if (wait_result)                                                                       \
                break;                                                                             \
            before;                                                                                \
            wait_result = sleep_commit(deadline);                                                  \
            after;                                                                                 \
        }                                                                                          \
        sleep_cancel();                                                                            \
        waitq_remove(&wait_entry);                                                                 \
        wait_result;                                                                               \
    })

#define wait_event(q, cond)                                                                        \
    ((void)WAIT_LOOP(q, cond, SLEEP_UNINTERRUPTIBLE, WAIT_FOREVER, (void)0, (void)0))
#define wait_event_interruptible(q, cond)                                                          \
    WAIT_LOOP(q, cond, SLEEP_INTERRUPTIBLE, WAIT_FOREVER, (void)0, (void)0)
#define wait_event_killable(q, cond)                                                               \
    WAIT_LOOP(q, cond, SLEEP_KILLABLE, WAIT_FOREVER, (void)0, (void)0)
#define wait_event_timeout(q, cond, deadline)                                                      \
    WAIT_LOOP(q, cond, SLEEP_INTERRUPTIBLE, deadline, (void)0, (void)0)
#define wait_event_locked(q, lock, cond)                                                           \
    ((void)WAIT_LOOP(q, cond, SLEEP_UNINTERRUPTIBLE, WAIT_FOREVER, spin_unlock(lock),              \
                     spin_lock(lock)))

/* kcov: not instrumented on linux: locks */
/*
 * Sleeping locks. Compare-and-exchange of the owner takes the lock; threads that fail sleep on the
 * queue. Not fair: a running thread may overtake a woken one.
 */
#include "klib.h"
#include "lock.h"
#include "proc.h"
#include "riscv.h"
#include "wait.h"

void mutex_init(struct mutex *m, const char *name)
{
    m->owner = NULL;
    m->class = 0;
    m->name = name;
    waitq_init(&m->waiters);
}

static bool take(struct mutex *m)
{
    struct thread *nobody = NULL;
    return __atomic_compare_exchange_n(&m->owner, &nobody, current, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

void mutex_lock(struct mutex *m)
{
    lockdebug_assert_may_sleep();
    if (unlikely(mutex_held(m)))
        panic("mutex %s is taken twice by thread %d", m->name, current->tid);
    lockdebug_acquire(&m->class, m->name, m, true);
    if (!take(m))
        wait_event(&m->waiters, take(m));
}

void mutex_unlock(struct mutex *m)
{
    if (unlikely(!mutex_held(m)))
        panic("mutex %s is released by thread %d, which does not hold it", m->name, current->tid);
    lockdebug_release(m);
    __atomic_store_n(&m->owner, NULL, __ATOMIC_RELEASE);
    mb();
    if (!list_empty(&m->waiters.waiters))
        wake_up_one(&m->waiters);
}

bool mutex_held(const struct mutex *m)
{
    return m->owner == current;
}

/*
 * Locks. A spinlock disables interrupts on its hart while held (so the same lock may be taken by an
 * interrupt handler) and must not be held across anything that sleeps. A mutex sleeps, belongs to a
 * thread, and must not be touched by interrupt handlers.
 *
 * Order: mutexes before spinlocks; within each kind the order is by class (the name), and with
 * CONFIG_LOCKDEBUG every acquisition is checked against the order seen before (opt/lockdebug).
 */
#pragma once
#include "types.h"
#include "list.h"
#include "optional.h"

struct cpu;
struct thread;

struct spinlock {
    u32 locked;
    u32 class; /* index of the lock class (LOCKDEBUG), 0 = not yet known */
    const char *name;
    struct cpu *owner;
};

#define SPINLOCK_INIT(n) {.locked = 0, .name = (n)}

void spin_init(struct spinlock *l, const char *name);
void spin_lock(struct spinlock *l);
void spin_unlock(struct spinlock *l);
bool spin_trylock(struct spinlock *l);
/* True when this hart holds l. */
bool spin_held(const struct spinlock *l);

/* Nestable "interrupts off on this hart"; the last pop restores the state before the first push. */
void irq_push_off(void);
void irq_pop_off(void);

/* A queue of waiting threads; see wait.h. */
struct waitq {
    struct spinlock lock;
    struct list waiters;
};

#define WAITQ_INIT(q) {.lock = SPINLOCK_INIT("waitq"), .waiters = LIST_INIT((q).waiters)}

struct mutex {
    struct thread *owner;
    u32 class;
    const char *name;
    struct waitq waiters;
};

#define MUTEX_INIT(m, n) {.owner = NULL, .name = (n), .waiters = WAITQ_INIT((m).waiters)}

void mutex_init(struct mutex *m, const char *name);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool mutex_held(const struct mutex *m);

/* Lock-order checking; empty unless CONFIG_LOCKDEBUG. */
OPTIONAL(CONFIG_LOCKDEBUG, void, lockdebug_acquire,
         (u32 *class, const char *name, const void *lock, bool sleeps))
OPTIONAL(CONFIG_LOCKDEBUG, void, lockdebug_release, (const void *lock))
OPTIONAL(CONFIG_LOCKDEBUG, void, lockdebug_assert_may_sleep, (void))

/* Atomics with acquire and release order; add mb() where a store must precede a later load. */
#define atomic_load(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define atomic_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define atomic_add(p, v)   __atomic_add_fetch((p), (v), __ATOMIC_ACQ_REL)
#define atomic_sub(p, v)   __atomic_sub_fetch((p), (v), __ATOMIC_ACQ_REL)
#define atomic_or(p, v)    __atomic_fetch_or((p), (v), __ATOMIC_ACQ_REL)
#define atomic_and(p, v)   __atomic_fetch_and((p), (v), __ATOMIC_ACQ_REL)
#define atomic_swap(p, v)  __atomic_exchange_n((p), (v), __ATOMIC_ACQ_REL)

/* kcov: not instrumented: contention depends on timing, and LOCKDEBUG would fill the trace */
/*
 * Spinlocks and nested interrupt disabling. Fences come from the acquire and release forms of the
 * atomic builtins.
 */
#include "klib.h"
#include "lock.h"
#include "proc.h"
#include "riscv.h"

void irq_push_off(void)
{
    bool enabled = irq_enabled();
    irq_disable();
    struct cpu *cpu = this_cpu();
    if (cpu->noff++ == 0)
        cpu->intena = enabled;
}

void irq_pop_off(void)
{
    struct cpu *cpu = this_cpu();
    if (--cpu->noff == 0 && cpu->intena)
        irq_enable();
}

void spin_init(struct spinlock *l, const char *name)
{
    *l = (struct spinlock){.name = name};
}

bool spin_held(const struct spinlock *l)
{
    return l->locked && l->owner == this_cpu();
}

void spin_lock(struct spinlock *l)
{
    irq_push_off();
    if (unlikely(spin_held(l)))
        panic("spinlock %s is taken twice by hart %lu", l->name, this_cpu()->hartid);
    lockdebug_acquire(&l->class, l->name, l, false);
    while (__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&l->locked, __ATOMIC_RELAXED))
            if (unlikely(panicking))
                irq_enable(); /* let the stop request in */
    l->owner = this_cpu();
}

bool spin_trylock(struct spinlock *l)
{
    irq_push_off();
    if (__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE)) {
        irq_pop_off();
        return false;
    }
    l->owner = this_cpu();
    return true;
}

void spin_unlock(struct spinlock *l)
{
    if (unlikely(!spin_held(l)))
        panic("spinlock %s is released by hart %lu, which does not hold it", l->name,
              this_cpu()->hartid);
    l->owner = NULL;
    lockdebug_release(l);
    __atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
    irq_pop_off();
}

/* kcov: not instrumented: part of the locks */
/*
 * Lock-order checking (CONFIG_LOCKDEBUG). Locks of one name form a class. Whenever class B is taken
 * while A is held, the pair is remembered; taking A while B is held later is an order reversal and
 * could deadlock, even if it did not this time. Spinlocks are tracked per hart, mutexes per thread.
 * Locks of one class may nest (queues inside queues); their order is not checked.
 */
#include "klib.h"
#include "lock.h"
#include "proc.h"

#ifdef CONFIG_LOCKDEBUG

#define CLASSES_MAX 64

static const char *class_names[CLASSES_MAX];
static u32 nclasses = 1; /* 0 means "not yet known" */
static bool taken_after[CLASSES_MAX][CLASSES_MAX];
static u32 table_lock;

static u32 find_class(const char *name)
{
    while (__atomic_exchange_n(&table_lock, 1, __ATOMIC_ACQUIRE))
        ;
    u32 i = 1;
    while (i < nclasses && strcmp(class_names[i], name) != 0)
        i++;
    if (i == nclasses && nclasses < CLASSES_MAX)
        class_names[nclasses++] = name;
    __atomic_store_n(&table_lock, 0, __ATOMIC_RELEASE);
    return i < CLASSES_MAX ? i : 0;
}

static void report(u32 held, u32 wanted)
{
    taken_after[held][wanted] = true; /* once is enough */
    kprintf("lock order reversal: \"%s\" is taken while \"%s\" is held, earlier it was the other "
            "way round\n",
            class_names[wanted], class_names[held]);
    backtrace((u64)__builtin_frame_address(0), 0);
    if (cmdline_flag("panic_on_warn"))
        panic("lock order reversal");
}

static void check_pair(u32 held, u32 wanted)
{
    if (held == wanted || !held || taken_after[held][wanted])
        return;
    if (taken_after[wanted][held])
        report(held, wanted);
    taken_after[held][wanted] = true;
}

void lockdebug_acquire(u32 *class, const char *name, const void *lock, bool sleeps)
{
    if (panicking)
        return;
    irq_push_off(); /* also for the table: an interrupt may look up a class of its own */
    if (!*class)
        *class = find_class(name);
    struct cpu *cpu = this_cpu();
    struct thread *t = current;
    struct held_lock *stack = sleeps ? t->held : cpu->held;
    int *n = sleeps ? &t->nheld : &cpu->nheld;
    for (int i = 0; i < t->nheld && !cpu->intr_depth; i++)
        check_pair(t->held[i].class, *class);
    for (int i = 0; i < cpu->nheld; i++)
        check_pair(cpu->held[i].class, *class);
    if (*n < HELD_MAX)
        stack[(*n)++] = (struct held_lock){lock, *class};
    irq_pop_off();
}

static bool forget(struct held_lock *stack, int *n, const void *lock)
{
    for (int i = *n - 1; i >= 0; i--) {
        if (stack[i].lock != lock)
            continue;
        for (--*n; i < *n; i++)
            stack[i] = stack[i + 1];
        return true;
    }
    return false;
}

void lockdebug_release(const void *lock)
{
    irq_push_off();
    if (!forget(this_cpu()->held, &this_cpu()->nheld, lock))
        forget(current->held, &current->nheld, lock);
    irq_pop_off();
}

void lockdebug_assert_may_sleep(void)
{
    irq_push_off();
    struct cpu *cpu = this_cpu();
    const char *why = cpu->noff > 1     ? "with a spinlock held"
                      : cpu->intr_depth ? "in an interrupt"
                                        : NULL;
    irq_pop_off();
    if (why && !panicking)
        panic("thread %d may sleep %s (%s)", current->tid, why,
              cpu->nheld ? class_names[cpu->held[cpu->nheld - 1].class] : "interrupts off");
}

#endif

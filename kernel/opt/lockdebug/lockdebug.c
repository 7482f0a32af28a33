/* kcov: not instrumented: part of the locks */
/*
 * Lock-order checking (CONFIG_LOCKDEBUG). Locks of one name form a class. Taking class B while A is
 * held records "A before B" and its transitive closure: with "B before C" also "A before C". Taking
 * A later while C is held is an order reversal: it could deadlock, even if it does not this time.
 * Spinlocks are tracked per hart, mutexes per thread. Locks of one class may nest (queues inside
 * queues); their order is not checked. /dev/lock-order reads
 * as the pairs seen so far, a line "A B" for each: B was taken while A was held, or follows.
 */
#include "abi/errno.h"
#include "boot.h"
#include "file.h"
#include "klib.h"
#include "opt/bootinfo/flag.h"
#include "lock.h"
#include "proc.h"

#define CLASSES_MAX 64

static const char *class_names[CLASSES_MAX];
static u32 nclasses = 1;       /* 0 means "not yet known" */
static u64 after[CLASSES_MAX]; /* bit B of after[A]: B was taken while A was held, or follows */
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

static bool is_after(u32 first, u32 second)
{
    return atomic_load(&after[first]) >> second & 1;
}

/* Every class before `held` is now also before `wanted` and before all classes after `wanted`. */
static void remember(u32 held, u32 wanted)
{
    u64 later = atomic_load(&after[wanted]) | 1UL << wanted;
    for (u32 i = 1; i < nclasses; i++)
        if (i == held || is_after(i, held))
            atomic_or(&after[i], later);
}

static void report(u32 held, u32 wanted)
{
    kprintf("======================================================\n"
            "WARNING: possible circular locking dependency detected\n"
            "lock order reversal: \"%s\" is taken while \"%s\" is held, earlier it was the other "
            "way round\n",
            class_names[wanted], class_names[held]);
    backtrace((u64)__builtin_frame_address(0), 0);
    if (cmdline_flag("panic_on_warn"))
        panic("lock order reversal");
}

static void check_pair(u32 held, u32 wanted)
{
    if (held == wanted || !held || is_after(held, wanted))
        return;
    if (is_after(wanted, held)) {
        atomic_or(&after[held], 1UL << wanted); /* once is enough */
        report(held, wanted);
    } else {
        remember(held, wanted);
    }
}

/* Of each hart. */
static struct spinlocks {
    struct held_lock held[16];
    int nheld;
} spinlocks[MAX_HARTS];

void lockdebug_acquire(u32 *class, const char *name, const void *lock, bool sleeps)
{
    if (panicking)
        return;
    irq_push_off(); /* also protects table_lock: an interrupt may call find_class, too */
    if (!*class)
        *class = find_class(name);
    struct cpu *cpu = this_cpu();
    struct spinlocks *hart = &spinlocks[cpu->index];
    struct thread *t = current;
    struct held_lock *stack = sleeps ? t->held : hart->held;
    int *n = sleeps ? &t->nheld : &hart->nheld;
    for (int i = 0; i < t->nheld && !cpu->intr_depth; i++)
        check_pair(t->held[i].class, *class);
    for (int i = 0; i < hart->nheld; i++)
        check_pair(hart->held[i].class, *class);
    if (*n < (int)ARRAY_LEN(hart->held))
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
    struct spinlocks *hart = &spinlocks[this_cpu()->index];
    if (!forget(hart->held, &hart->nheld, lock))
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
    const struct spinlocks *hart = &spinlocks[cpu->index];
    irq_pop_off();
    if (why && !panicking)
        panic("thread %d may sleep %s (%s)", current->tid, why,
              hart->nheld ? class_names[hart->held[hart->nheld - 1].class] : "interrupts off");
}

/* A read gives whole lines, and *pos counts the pairs that it is past. */
static i64 read_order(struct file *file, struct iter *to, i64 *pos)
{
    i64 done = 0;

    (void)file;
    for (; *pos < (i64)nclasses * CLASSES_MAX; ++*pos) {
        u32 first = (u32)*pos / CLASSES_MAX, second = (u32)*pos % CLASSES_MAX;
        char line[2 * 32 + 3];

        if (!is_after(first, second))
            continue;
        int n = ksnprintf(line, sizeof(line), "%s %s\n", class_names[first], class_names[second]);
        if ((u64)n > to->left)
            break;
        if (iter_put(to, line, (u64)n) < (u64)n)
            return done ? done : -EFAULT;
        done += n;
    }
    return done;
}

static const struct file_ops order_ops = {.read = read_order};

static void lockdebug_init(void)
{
    devfs_register("lock-order", &order_ops, 0444);
}
INITCALL(lockdebug_init);

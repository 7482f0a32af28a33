/*
 * /dev/provoke (CONFIG_PROVOKE): a program writes the name of a bug, and the kernel executes it, to
 * test the checkers and the panic path. Ordinary kernels do not contain it.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "boot.h"
#include "file.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/each.h"

static volatile int zero, big = 0x7fffffff, index_nine = 9;
static int table[4] = {1, 2, 3, 4};
static struct spinlock lock_a = SPINLOCK_INIT("provoke a"), lock_b = SPINLOCK_INIT("provoke b"),
                       lock_c = SPINLOCK_INIT("provoke c");

static void do_panic(void)
{
    panic("provoked");
}

static void do_null(void)
{
    *(volatile int *)(u64)zero = 1;
}

static void do_write_text(void)
{
    extern char __text_start[];
    *(volatile u8 *)__text_start = 0;
}

static void do_exec_data(void)
{
    ((void (*)(void))(void *)table)();
}

static int recurse(volatile u8 *from_caller)
{
    volatile u8 room[512];
    room[0] = from_caller ? from_caller[0] : 1;
    return zero ? 0 : recurse(room) + room[0];
}

static void do_overflow(void)
{
    recurse(NULL);
}

static void take_both(struct spinlock *first, struct spinlock *second)
{
    spin_lock(first);
    spin_lock(second);
    spin_unlock(second);
    spin_unlock(first);
}

static void do_lock_order(void)
{
    take_both(&lock_a, &lock_b);
    take_both(&lock_b, &lock_a);
}

/* No pair is ever reversed, but the three orders form a cycle. */
static void do_lock_circle(void)
{
    take_both(&lock_a, &lock_b);
    take_both(&lock_b, &lock_c);
    take_both(&lock_c, &lock_a);
}

static void do_double_lock(void)
{
    spin_lock(&lock_a);
    spin_lock(&lock_a);
}

static void do_heap_overflow(void)
{
    volatile u8 *p = kmalloc(40);
    p[40] = 1;
    kfree((void *)p);
}

static void do_large_overflow(void)
{
    volatile u8 *p = kmalloc(5000);
    p[5000] = 1;
    kfree((void *)p);
}

static void do_double_free(void)
{
    void *p = kmalloc(40);
    kfree(p);
    kfree(p);
    table[0] = 1; /* prevents a tail call, which would hide this function from the report */
}

static void do_use_after_free(void)
{
    volatile u8 *p = kmalloc(40);
    kfree((void *)p);
    p[8] = 1;
    kfree(kmalloc(40)); /* slab poisoning checks an object at its next allocation */
}

static void do_page_after_free(void)
{
    pa_t pa = page_alloc(0);
    volatile u64 *p = pa_to_va(pa);
    page_free(pa, 0);
    p[9] = 1;
    page_free(page_alloc(0), 0);
}

static void do_global_overflow(void)
{
    table[index_nine - 5] = 1;
}

static void do_shift(void)
{
    table[0] = 1 << (index_nine * 4);
}

static void do_overflow_int(void)
{
    table[0] = big + index_nine;
}

static void do_index(void)
{
    table[1] = table[index_nine];
}

static void do_hang(void)
{
    struct waitq nobody = WAITQ_INIT(nobody);
    wait_event(&nobody, zero);
}

static void do_sleep_locked(void)
{
    spin_lock(&lock_a);
    do_hang();
}

/* Makes the next edge record to an address without memory. */
static void do_hook_fault(void)
{
    static struct kcov_context bad = {.mode = KCOV_RECORD_PC, .area = 1UL << 40, .words = 9};
    current->kcov.live = &bad;
}

static bool show_task(struct thread *t, void *arg)
{
    (void)arg;
    kprintf("task %s:%d pid %d state %d%s%s\n", t->name, t->tid, t->proc->pid, t->state,
            t->on_cpu ? " running" : "", t->exiting ? " exiting" : "");
    if (!t->on_cpu)
        backtrace(t->ctx.s[0], t->ctx.ra);
    return true;
}

/* Prints every thread and where it sleeps, to explain a hang. */
static void tasks_show(void)
{
    thread_for_each(show_task, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} bugs[] = {
    {"panic", do_panic},
    {"null", do_null},
    {"write-text", do_write_text},
    {"exec-data", do_exec_data},
    {"stack-overflow", do_overflow},
    {"lock-order", do_lock_order},
    {"lock-circle", do_lock_circle},
    {"double-lock", do_double_lock},
    {"heap-overflow", do_heap_overflow},
    {"large-overflow", do_large_overflow},
    {"double-free", do_double_free},
    {"use-after-free", do_use_after_free},
    {"page-after-free", do_page_after_free},
    {"global-overflow", do_global_overflow},
    {"shift", do_shift},
    {"int-overflow", do_overflow_int},
    {"index", do_index},
    {"hang", do_hang},
    {"show-tasks", tasks_show}, /* not a bug: helps to find one */
    {"sleep-locked", do_sleep_locked},
    {"hook-fault", do_hook_fault},
};

static i64 provoke_write(struct file *file, struct iter *from, i64 *pos)
{
    char name[32] = "";
    (void)file, (void)pos;
    i64 n = (i64)iter_get(from, name, sizeof(name) - 1);
    char *end = strchr(name, '\n');
    if (end)
        *end = 0;
    for (size_t i = 0; i < ARRAY_LEN(bugs); i++) {
        if (strcmp(bugs[i].name, name) == 0) {
            bugs[i].run();
            return n;
        }
    }
    return -EINVAL;
}

static const struct file_ops provoke_ops = {.write = provoke_write};

static void provoke_init(void)
{
    devfs_register("provoke", &provoke_ops, 0600);
}
INITCALL(provoke_init);

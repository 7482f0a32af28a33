/*
 * Hung-task watch (CONFIG_HUNG_TASK = seconds): once per period, reports each thread of a user
 * process that has slept uninterruptibly for longer than that, with its kernel backtrace.
 */
#include "boot.h"
#include "klib.h"
#include "opt/bootinfo/flag.h"
#include "proc.h"
#include "proc/each.h"
#include "riscv.h"
#include "timeout.h"

static struct timeout watch;

static bool check(struct thread *t, void *arg)
{
    u64 limit = *(u64 *)arg;
    u64 asleep = (read_time() - t->slept_since) / TICKS_PER_SEC;
    if (t->state != THREAD_SLEEPING || t->proc == &kernel_proc || t->on_cpu || asleep < limit)
        return true;
    kprintf("INFO: task %s:%d blocked for more than %lu seconds\n", t->name, t->tid, asleep);
    backtrace(t->ctx.s[0], t->ctx.ra);
    if (cmdline_flag("panic_on_warn"))
        panic("hung task");
    return true;
}

static void run(void *arg)
{
    (void)arg;
    u64 limit = cmdline_get_u64("hung_task_secs", CONFIG_HUNG_TASK);
    thread_for_each(check, &limit);
    timeout_set(&watch, time_now() + limit * TICKS_PER_SEC);
}

static void hungtask_init(void)
{
    timeout_init_entry(&watch, TIMEOUT_THREAD, run, NULL);
    run(NULL);
}
INITCALL(hungtask_init);

/*
 * oom.c: a page fault that finds no memory. Killing the faulting process would let one greedy
 * process end all others, so the victim is the process with the most resident pages (as in Linux's
 * mm/oom_kill.c, without its adjustments), and the console shows it. The faulting thread returns to
 * the same instruction and so tries again.
 */
#include "klib.h"
#include "mm/internal.h"
#include "proc.h"
#include "proc/each.h"
#include "signal.h"
#include "timeout.h"

/* After this time a victim that still exists sleeps uninterruptibly: another one is chosen. */
#define TIME_TO_DIE (TICKS_PER_SEC / 10)

static struct {
    u64 id; /* of the last victim; 0: none yet */
    u64 until;
} last; /* (proc_lock) */

struct choice {
    int pid; /* of the largest process; 0: none */
    u64 id;
    size_t resident;
    bool is_dying; /* the last victim still has its memory */
};

static bool look(struct proc *p, void *arg)
{
    struct choice *c = arg;

    if (p == &kernel_proc || p == init_proc || p->state == PROC_ZOMBIE || !p->vm)
        return true;
    if (p->id == last.id && time_now() < last.until) {
        c->is_dying = true;
    } else if (p->id != last.id && p->vm->resident > c->resident) {
        c->pid = p->pid;
        c->id = p->id;
        c->resident = p->vm->resident;
    }
    return true;
}

static void kill_chosen(const struct choice *c)
{
    spin_lock(&proc_lock);
    struct proc *p = proc_find(c->pid);
    if (p && p->id == c->id) {
        last.id = p->id;
        last.until = time_now() + TIME_TO_DIE;
        kprintf("out of memory: process %d (%s) is killed, %lu KiB were resident\n", p->pid,
                p->comm, c->resident * (PAGE_SIZE / 1024));
        signal_send_proc_locked(p, SIGKILL, NULL);
    }
    spin_unlock(&proc_lock);
}

bool oom_kill(void)
{
    struct choice c = {0};

    proc_for_each(look, &c);
    if (!c.is_dying && !c.pid)
        return false;
    if (!c.is_dying)
        kill_chosen(&c);
    schedule();
    return true;
}

/*
 * Clocks of CPU time: their ids, reading them, and waiting for a value.
 *
 * A clock names its process or thread by number and holds no reference: every use looks the number
 * up, and the clock is gone once another process has the number.
 *
 * No interrupt tells that such a clock has reached a value, so a waiter polls it: at the earliest
 * time at which it could be due, and again until it is. In t ticks a process gains at most t times
 * the number of harts, so a rest of n ticks needs no look for n / harts. An idle process is looked
 * at rarely, as its rest does not shrink.
 *
 * Divergence: the clocks PROF and SCHED are the same, and all have a resolution of one tick.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "opt/cpuclock/cpuclock.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/internal.h"
#include "riscv.h"
#include "vm.h"

/* A clock id below zero is ~number << 3 | PER_THREAD or 0 | COUNT_*, as in Linux. */
#define PER_THREAD 4
enum { COUNT_PROF, COUNT_VIRT, COUNT_SCHED, COUNT_KINDS };

#define LOOK_AGAIN (TICKS_PER_SEC / 1000) /* ticks: at most one look per millisecond */

static u64 run_ticks(const struct thread *t)
{
    u64 used = t->utime + t->stime;
    return t->on_cpu ? used + read_time() - t->run_since : used;
}

/* The user time of a thread. A frame with a system call number belongs to kernel time. */
static u64 user_ticks(const struct thread *t)
{
    bool in_user = t->on_cpu && t->tf && t->tf->syscall == ~0UL;
    return in_user ? t->utime + read_time() - t->run_since : t->utime;
}

u64 proc_cpu_ticks(struct proc *p, bool only_user)
{
    u64 used = only_user ? p->utime : p->utime + p->stime;
    list_for_each(t, &p->threads, struct thread, in_proc)
        used += only_user ? user_ticks(t) : run_ticks(t);
    return used;
}

/* proc_lock held. A thread that only reads may name its process by its own number. */
static struct proc *named_proc(int number, bool to_read)
{
    struct proc *p = number ? proc_find(number) : curproc;
    return !p && to_read && number == current->tid ? curproc : p;
}

/* proc_lock held. The caller cannot use clocks of other processes' threads. */
static struct thread *named_thread(int number)
{
    struct thread *t = number ? thread_find(number) : current;
    return t && t->proc == curproc ? t : NULL;
}

long cpu_clock_find(int id, bool to_read, struct cpu_clock *clock)
{
    bool own = id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID;
    int number = own ? 0 : ~(id >> 3), what = own ? COUNT_SCHED : id & 3;
    if ((id >= 0 && !own) || what >= COUNT_KINDS)
        return -EINVAL;
    *clock = (struct cpu_clock){.only_user = what == COUNT_VIRT};
    clock->is_thread = own ? id == CLOCK_THREAD_CPUTIME_ID : id & PER_THREAD;
    spin_lock(&proc_lock);
    struct thread *t = clock->is_thread ? named_thread(number) : NULL;
    struct proc *p = clock->is_thread ? NULL : named_proc(number, to_read);
    if (t)
        clock->number = t->tid, clock->id = t->id;
    else if (p)
        clock->number = p->pid, clock->id = p->id;
    spin_unlock(&proc_lock);
    return t || p ? 0 : -EINVAL;
}

bool cpu_clock_ticks(const struct cpu_clock *clock, u64 *ticks)
{
    struct thread *t = clock->is_thread ? thread_find(clock->number) : NULL;
    struct proc *p = clock->is_thread ? NULL : proc_find(clock->number);
    if (t && t->id == clock->id)
        *ticks = clock->only_user ? user_ticks(t) : run_ticks(t);
    else if (p && p->id == clock->id)
        *ticks = proc_cpu_ticks(p, clock->only_user);
    else
        return false;
    return true;
}

bool cpu_clock_read(const struct cpu_clock *clock, u64 *ticks)
{
    spin_lock(&proc_lock);
    bool there = cpu_clock_ticks(clock, ticks);
    spin_unlock(&proc_lock);
    return there;
}

u64 cpu_clock_look(u64 left)
{
    return time_now() + MAX(left / (u64)ncpus, LOOK_AGAIN);
}

/* 0: reached, or the process has ended; -EINTR with the rest in *left (ns); -EINVAL, -ESRCH. */
static long cpu_clock_sleep(int id, u64 ns, bool absolute, u64 *left)
{
    struct waitq nobody = WAITQ_INIT(nobody);
    struct cpu_clock clock;
    u64 now, target = ns_to_ticks(ns);
    if (id < 0 && id & PER_THREAD && (~(id >> 3) == 0 || ~(id >> 3) == current->tid))
        return -EINVAL; /* the caller's own clock stops while it sleeps */
    long error = cpu_clock_find(id, false, &clock);
    if (error)
        return error;
    if (!cpu_clock_read(&clock, &now))
        return -ESRCH;
    target += absolute ? 0 : now;
    while (cpu_clock_read(&clock, &now) && now < target) {
        error = wait_event_timeout(&nobody, false, cpu_clock_look(target - now));
        if (error != -ETIMEDOUT) {
            *left = (target - now) * NS_PER_TICK;
            return -EINTR;
        }
    }
    return 0;
}

long cpu_clock_nanosleep(int id, bool absolute, va_t request, va_t remain)
{
    struct timespec ts;
    u64 left;
    if (id >= 0 && id != CLOCK_PROCESS_CPUTIME_ID)
        return id <= CLOCK_BOOTTIME ? -EOPNOTSUPP : -EINVAL;
    if (get_user(ts, request))
        return -EFAULT;
    if (!timespec_ok(&ts))
        return -EINVAL;
    long error = cpu_clock_sleep(id, saturating_ns(ts.sec, ts.nsec), absolute, &left);
    return error == -EINTR ? sleep_ended_early(left, absolute, remain) : error;
}

long cpu_clock_ns(int id, u64 *ns)
{
    struct cpu_clock clock;
    u64 ticks;
    long error = cpu_clock_find(id, true, &clock);
    if (error || !cpu_clock_read(&clock, &ticks))
        return -EINVAL;
    *ns = ticks * NS_PER_TICK;
    return 0;
}

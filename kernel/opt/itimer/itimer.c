/*
 * Interval timers: setitimer(2). ITIMER_REAL counts time; ITIMER_VIRTUAL counts the user time and
 * ITIMER_PROF the whole CPU time of the process, whose clocks are polled (cpuclock.c).
 */
#include "opt/signals/numbers.h"
#include "abi/errno.h"
#include "klib.h"
#include "opt/cpuclock/cpuclock.h"
#include "opt/cpuclock/rusage.h"
#include "period.h"
#include "proc.h"
#include "opt/cpuclock/timeval.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

enum { REAL, VIRTUAL, PROF, KINDS };
static const int signals[KINDS] = {SIGALRM, SIGVTALRM, SIGPROF};

struct itimerval {
    struct timeval64 interval, value;
};

static void real_fires(void *arg)
{
    struct proc *p = arg;
    struct itimer *it = &p->itimers[REAL];
    u64 interval = it->interval, expired;
    if (interval)
        timeout_set(&it->timeout, timeout_advance(it->timeout.when, interval, &expired));
    spin_lock(&proc_lock);
    signal_send_proc_locked(p, SIGALRM, NULL);
    spin_unlock(&proc_lock);
}

static void look_later(struct itimer *it, u64 left)
{
    timeout_set(&it->timeout, cpu_clock_look(left));
}

static void cpu_fires(struct proc *p, int which)
{
    struct itimer *it = &p->itimers[which];
    spin_lock(&proc_lock);
    u64 used = proc_cpu_ticks(p, which == VIRTUAL), target = it->target, interval = it->interval;
    bool due = target && used >= target;
    if (due)
        it->target = interval ? used - (used - target) % interval + interval : 0;
    if (it->target)
        look_later(it, it->target - used);
    if (due)
        signal_send_proc_locked(p, signals[which], NULL);
    spin_unlock(&proc_lock);
}

static void virtual_fires(void *arg)
{
    cpu_fires(arg, VIRTUAL);
}

static void prof_fires(void *arg)
{
    cpu_fires(arg, PROF);
}

static void itimer_init(struct proc *p)
{
    static void (*const fires[KINDS])(void *) = {real_fires, virtual_fires, prof_fires};
    for (int i = 0; i < KINDS; i++)
        timeout_init_entry(&p->itimers[i].timeout, TIMEOUT_IRQ, fires[i], p);
    mutex_init(&p->itimer_lock, "itimers");
}

PROC_PART(itimer) = {.init = itimer_init};

static void stop(struct itimer *it)
{
    spin_lock(&proc_lock);
    it->interval = 0;
    it->target = 0;
    spin_unlock(&proc_lock);
    timeout_cancel_sync(&it->timeout);
}

void itimer_stop(struct proc *p)
{
    for (int i = 0; i < KINDS; i++)
        stop(&p->itimers[i]);
}

static void get_setting(int which, struct itimerval *out)
{
    struct itimer *it = &curproc->itimers[which];
    memset(out, 0, sizeof(*out));
    spin_lock(&proc_lock);
    u64 now = which == REAL ? time_now() : proc_cpu_ticks(curproc, which == VIRTUAL);
    u64 end = which != REAL ? it->target : it->timeout.armed ? it->timeout.when : 0;
    out->interval = ticks_to_timeval(it->interval);
    if (end) /* at least 1 us, as 0 would mean a timer that is not armed */
        out->value = ticks_to_timeval(MAX(end, now + 10) - now);
    spin_unlock(&proc_lock);
}

static void set(int which, u64 delay, u64 interval)
{
    struct itimer *it = &curproc->itimers[which];
    stop(it);
    if (!delay)
        return;
    spin_lock(&proc_lock);
    it->interval = interval;
    if (which == REAL) {
        timeout_set(&it->timeout, time_now() + delay);
    } else {
        it->target = proc_cpu_ticks(curproc, which == VIRTUAL) + delay;
        look_later(it, delay);
    }
    spin_unlock(&proc_lock);
}

static bool timeval_ok(const struct timeval64 *tv)
{
    return tv->sec >= 0 && tv->usec >= 0 && tv->usec < 1000000;
}

static u64 timeval_ticks(const struct timeval64 *tv)
{
    return ns_to_ticks(saturating_ns(tv->sec, tv->usec * 1000));
}

long sys_setitimer(u64 which, u64 new_addr, u64 old_addr)
{
    struct itimerval new = {0}, old;
    if (which >= KINDS)
        return -EINVAL;
    if (new_addr && copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    if (!timeval_ok(&new.value) || !timeval_ok(&new.interval))
        return -EINVAL;
    mutex_lock(&curproc->itimer_lock);
    get_setting((int)which, &old);
    set((int)which, timeval_ticks(&new.value), timeval_ticks(&new.interval));
    mutex_unlock(&curproc->itimer_lock);
    return old_addr && copyout(old_addr, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_getitimer(u64 which, u64 addr)
{
    struct itimerval now;
    if (which >= KINDS)
        return -EINVAL;
    get_setting((int)which, &now);
    return copyout(addr, &now, sizeof(now));
}

/*
 * POSIX timers: timer_create(2) and its family, on the clocks that tick in real time and on those
 * of CPU time (cpuclock.c).
 *
 * A timer has at most one pending signal; further expirations are counted in that signal's overrun
 * field, which timer_getoverrun() returns once the signal has been delivered. Timers end with the
 * process and with execve; fork does not copy them.
 *
 * The C library implements SIGEV_THREAD, on top of SIGEV_THREAD_ID.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/cpuclock/cpuclock.h"
#include "period.h"
#include "proc.h"
#include "opt/signals/signals.h"
#include "syscall.h"
#include "vm.h"

#define SIGEV_SIGNAL    0
#define SIGEV_NONE      1
#define SIGEV_THREAD_ID 4
#define TIMERS_MAX      1024
#define DELAYTIMER_MAX  0x7fffffffUL

struct sigevent { /* ABI */
    u64 value;
    i32 signo, notify, tid;
    i32 pad[11];
};
_Static_assert(sizeof(struct sigevent) == 64, "sigevent is ABI");

struct itimerspec {
    struct timespec interval, value;
};

struct posix_timer {
    struct list link;
    struct proc *proc;
    int id, clock, signo, notify, tid;
    u64 value;
    struct timeout timeout;
    u64 interval; /* (proc_lock) ticks */
    u64 missed;   /* (proc_lock) expirations before boot that are not counted yet */
    u64 first;    /* (proc_lock) with missed: ticks since boot of the first one after boot */
    bool counts_cpu;
    struct cpu_clock cpu; /* with counts_cpu */
    u64 target;           /* (proc_lock) ticks of cpu at which it is due; 0: not armed */
    int overrun;          /* (proc_lock) of the last signal delivered */
};

/* proc_lock held. Adds to the overruns of a signal of this timer that is still pending. */
static bool count_overrun(struct list *queue, const struct posix_timer *t, u64 expired)
{
    list_for_each(q, queue, struct sigqueued, link) {
        if (q->info.si_code != SI_TIMER || q->info.timer.tid != t->id)
            continue;
        q->info.timer.overrun = (int)MIN((u64)q->info.timer.overrun + expired, DELAYTIMER_MAX);
        return true;
    }
    return false;
}

/* proc_lock held. */
static void send(struct posix_timer *t, u64 expired)
{
    struct thread *thread = t->notify == SIGEV_THREAD_ID ? thread_find(t->tid) : NULL;
    siginfo_t info;
    if (t->notify == SIGEV_THREAD_ID && (!thread || thread->proc != t->proc))
        return;
    if (count_overrun(thread ? &thread->sigqueue : &t->proc->sigqueue, t, expired))
        return;
    memset(&info, 0, sizeof(info));
    info.si_code = SI_TIMER;
    info.timer.tid = t->id;
    BUG_NOTE_MORE(timer_overrun, expired - 1, DELAYTIMER_MAX);
    info.timer.overrun = (int)(BUG(timer_overrun) ? expired - 1 : MIN(expired - 1, DELAYTIMER_MAX));
    info.timer.value = t->value;
    if (thread)
        signal_send_thread_locked(thread, t->signo, &info);
    else
        signal_send_proc_locked(t->proc, t->signo, &info);
}

/* proc_lock held. How often a timer of CPU time has expired; arms the next look at its clock. */
static u64 look_at_cpu(struct posix_timer *t)
{
    u64 used, expired = 0;
    if (!t->target || !cpu_clock_ticks(&t->cpu, &used))
        return 0;
    if (used >= t->target) {
        expired = 1 + (t->interval ? (used - t->target) / t->interval : 0);
        t->target = t->interval ? t->target + expired * t->interval : 0;
    }
    if (t->target)
        timeout_set(&t->timeout, cpu_clock_look(t->target - used));
    return expired;
}

/* proc_lock held. How often a timer of real time has expired; arms it for the next time. */
static u64 expire_real_time(struct posix_timer *t)
{
    u64 expired = 1, missed = t->missed, when = missed ? t->first : t->timeout.when;
    if (!t->interval)
        return 1;
    t->missed = 0;
    if (missed && when > time_now()) {
        timeout_set(&t->timeout, when);
        return missed;
    }
    timeout_set(&t->timeout, timeout_advance(when, t->interval, &expired));
    return missed + expired;
}

static void fires(void *arg)
{
    struct posix_timer *t = arg;
    spin_lock(&proc_lock);
    u64 expired = t->counts_cpu ? look_at_cpu(t) : expire_real_time(t);
    if (expired && t->notify != SIGEV_NONE)
        send(t, expired);
    spin_unlock(&proc_lock);
}

void posix_timer_delivered(struct proc *p, siginfo_t *info)
{
    list_for_each(t, &p->timers, struct posix_timer, link)
        if (t->id == info->timer.tid)
            t->overrun = info->timer.overrun;
}

/* timer_lock held. */
static struct posix_timer *find(u64 id)
{
    list_for_each(t, &curproc->timers, struct posix_timer, link)
        if (t->id == (int)id)
            return t;
    return NULL;
}

/* timer_lock held. Afterwards fires() is not running and the timer is not armed. */
static void stop(struct posix_timer *t)
{
    spin_lock(&proc_lock);
    t->interval = t->target = t->missed = 0;
    spin_unlock(&proc_lock);
    timeout_cancel_sync(&t->timeout);
}

static void delete(struct posix_timer *t)
{
    spin_lock(&proc_lock);
    list_remove(&t->link);
    spin_unlock(&proc_lock);
    stop(t);
    kfree(t);
}

void posix_timers_delete(struct proc *p)
{
    mutex_lock(&p->timer_lock);
    while (!list_empty(&p->timers)) {
        struct posix_timer *t = list_first(&p->timers, struct posix_timer, link);
        if (BUG(exec_cpu_timer) && t->counts_cpu && p->nlive) {
            BUG_NOTE(exec_cpu_timer, t->timeout.armed);
            spin_lock(&proc_lock);
            list_remove(&t->link);
            spin_unlock(&proc_lock);
            kfree(t);
            continue;
        }
        delete (t);
    }
    mutex_unlock(&p->timer_lock);
}

static long check_event(const struct sigevent *ev)
{
    BUG_NOTE(timer_sigev_notify, ev->notify & ~(SIGEV_THREAD_ID | SIGEV_NONE));
    if (!BUG(timer_sigev_notify) && ev->notify != SIGEV_SIGNAL && ev->notify != SIGEV_NONE &&
        ev->notify != SIGEV_THREAD_ID)
        return -EINVAL;
    if (ev->notify != SIGEV_NONE && (ev->signo < 1 || ev->signo > NSIG))
        return -EINVAL;
    if (ev->notify != SIGEV_THREAD_ID)
        return 0;
    spin_lock(&proc_lock);
    struct thread *t = thread_find(ev->tid);
    long error = t && t->proc == curproc ? 0 : -EINVAL;
    spin_unlock(&proc_lock);
    return error;
}

/* cpu: the target of a clock of CPU time, unused for other clocks. */
static long create(int clock, const struct cpu_clock *cpu, const struct sigevent *ev,
                   bool value_is_id, va_t id_addr)
{
    struct proc *p = curproc;
    if (p->next_timer >= TIMERS_MAX && !list_empty(&p->timers))
        return -EAGAIN;
    struct posix_timer *t = kzalloc(sizeof(*t));
    if (!t)
        return -EAGAIN;
    t->proc = p;
    t->id = list_empty(&p->timers) ? 0 : p->next_timer;
    p->next_timer = t->id + 1;
    t->clock = clock;
    t->counts_cpu = !clock_is_real_time(clock);
    t->cpu = *cpu;
    t->signo = ev->signo, t->notify = ev->notify, t->tid = ev->tid;
    t->value = value_is_id ? (u64)t->id : ev->value;
    timeout_init_entry(&t->timeout, TIMEOUT_IRQ, fires, t);
    if (put_user(id_addr, t->id)) {
        kfree(t);
        return -EFAULT;
    }
    spin_lock(&proc_lock);
    list_push_back(&p->timers, &t->link);
    spin_unlock(&proc_lock);
    return 0;
}

long sys_timer_create(u64 clock, u64 event_addr, u64 id_addr)
{
    struct sigevent ev = {.signo = SIGALRM, .notify = SIGEV_SIGNAL};
    struct cpu_clock cpu = {0};
    long error = clock_is_real_time((int)clock) ? 0 : cpu_clock_find((int)clock, false, &cpu);
    if (error)
        return error;
    if (event_addr && copyin(&ev, event_addr, sizeof(ev)))
        return -EFAULT;
    error = check_event(&ev);
    if (error)
        return error;
    mutex_lock(&curproc->timer_lock);
    error = create((int)clock, &cpu, &ev, !event_addr, id_addr);
    mutex_unlock(&curproc->timer_lock);
    return error;
}

static void get_setting(struct posix_timer *t, struct itimerspec *out)
{
    u64 now = time_now(), end = 0;
    memset(out, 0, sizeof(*out));
    spin_lock(&proc_lock);
    out->interval = ns_to_timespec(t->interval * NS_PER_TICK);
    if (!t->counts_cpu)
        end = t->timeout.armed ? t->timeout.when : 0;
    else if (cpu_clock_ticks(&t->cpu, &now))
        end = t->target;
    if (end)
        out->value = ns_to_timespec(MAX(end, now + 1) * NS_PER_TICK - now * NS_PER_TICK);
    spin_unlock(&proc_lock);
}

/* proc_lock held. */
static void set_cpu(struct posix_timer *t, const struct timespec *to, bool absolute)
{
    u64 now, ticks = MAX(ns_to_ticks(saturating_ns(to->sec, to->nsec)), 1);
    if (!cpu_clock_ticks(&t->cpu, &now))
        return;
    t->target = absolute ? ticks : now + ticks;
    timeout_set(&t->timeout, cpu_clock_look(t->target > now ? t->target - now : 0));
}

/*
 * proc_lock held. A periodic timer on the wall clock may have begun before boot. It fires at once,
 * counts the expirations until boot, and stays in phase.
 */
static void count_missed(struct posix_timer *t, const struct timespec *start)
{
    u64 begin = saturating_ns(start->sec, start->nsec), boot = time_wall_ns() - time_now_ns();
    if (!t->interval || begin >= boot)
        return;
    u64 past = ns_to_ticks(boot - begin);
    t->missed = past / t->interval + 1;
    t->first = t->interval - past % t->interval;
}

static void set(struct posix_timer *t, const struct itimerspec *to, bool absolute)
{
    u64 interval = ns_to_ticks(saturating_ns(to->interval.sec, to->interval.nsec));
    stop(t);
    if (!to->value.sec && !to->value.nsec)
        return;
    spin_lock(&proc_lock);
    t->interval = interval;
    t->overrun = 0;
    if (absolute && t->clock == CLOCK_REALTIME)
        count_missed(t, &to->value);
    if (t->counts_cpu)
        set_cpu(t, &to->value, absolute);
    else
        timeout_set(&t->timeout, deadline_from(to->value.sec, to->value.nsec, absolute, t->clock));
    spin_unlock(&proc_lock);
}

long sys_timer_settime(u64 id, u64 flags, u64 new_addr, u64 old_addr)
{
    struct itimerspec new, old;
    if (copyin(&new, new_addr, sizeof(new)))
        return -EFAULT;
    if (!timespec_ok(&new.value) || !timespec_ok(&new.interval))
        return -EINVAL;
    mutex_lock(&curproc->timer_lock);
    struct posix_timer *t = find(id);
    u64 now;
    long error = !t ? -EINVAL : t->counts_cpu && !cpu_clock_read(&t->cpu, &now) ? -ESRCH : 0;
    if (!error) {
        get_setting(t, &old);
        set(t, &new, flags & TIMER_ABSTIME);
    }
    mutex_unlock(&curproc->timer_lock);
    if (error)
        return error;
    return old_addr && copyout(old_addr, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_timer_gettime(u64 id, u64 addr)
{
    struct itimerspec now;
    mutex_lock(&curproc->timer_lock);
    struct posix_timer *t = find(id);
    if (t)
        get_setting(t, &now);
    mutex_unlock(&curproc->timer_lock);
    return !t ? -EINVAL : copyout(addr, &now, sizeof(now)) ? -EFAULT : 0;
}

long sys_timer_getoverrun(u64 id)
{
    mutex_lock(&curproc->timer_lock);
    struct posix_timer *t = find(id);
    long overrun = t ? t->overrun : -EINVAL;
    mutex_unlock(&curproc->timer_lock);
    return overrun;
}

long sys_timer_delete(u64 id)
{
    mutex_lock(&curproc->timer_lock);
    struct posix_timer *t = find(id);
    if (t)
        delete (t);
    mutex_unlock(&curproc->timer_lock);
    return t ? 0 : -EINVAL;
}

static void init_timers(struct proc *p)
{
    list_init(&p->timers);
    mutex_init(&p->timer_lock, "timers");
}

PROC_PART(timers) = {.init = init_timers};

/*
 * Clocks, sleeping and accounting as system calls. The interface has nanoseconds, but the clocks
 * advance by ticks of 100 ns.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "bugs.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"

struct timespec ns_to_timespec(u64 ns)
{
    return (struct timespec){(i64)(ns / NS_PER_SEC), (i64)(ns % NS_PER_SEC)};
}

bool timespec_ok(const struct timespec *ts)
{
    return ts->sec >= 0 && ts->nsec >= 0 && ts->nsec < NS_PER_SEC;
}

u64 saturating_ns(i64 sec, i64 nsec)
{
    BUG_NOTE_MORE(nanosleep_overflow, (u64)sec, 4000000000UL);
    return !BUG(nanosleep_overflow) && sec > 4000000000L ? 4000000000UL * NS_PER_SEC
                                                         : (u64)sec * NS_PER_SEC + (u64)nsec;
}

u64 deadline_from(i64 sec, i64 nsec, bool absolute, int clock)
{
    u64 ns = saturating_ns(sec, nsec);
    if (!absolute)
        return time_now() + ns_to_ticks(ns);
    if (clock == CLOCK_REALTIME) {
        u64 offset = time_wall_ns() - time_now_ns();
        ns = ns > offset ? ns - offset : 0;
    }
    return ns_to_ticks(ns);
}

long clock_read(int clock, u64 *ns)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *ns = time_wall_ns();
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        *ns = time_now_ns();
        return 0;
    default:
        return cpu_clock_ns(clock, ns);
    }
}

long sys_clock_gettime(u64 clock, u64 addr)
{
    u64 ns;
    long error = clock_read((int)clock, &ns);
    if (error)
        return error;
    struct timespec ts = ns_to_timespec(ns);
    return put_user(addr, ts);
}

long sleep_ended_early(u64 left_ns, bool absolute, va_t remain)
{
    struct timespec left = ns_to_timespec(left_ns);
    if (absolute || !remain)
        return -ERESTARTNOHAND;
    return put_user(remain, left) ? -EFAULT : -EINTR;
}

/* A sleep of length zero returns without giving up the hart. */
static long sleep_for(u64 deadline, bool absolute, va_t remain)
{
    struct waitq nobody = WAITQ_INIT(nobody);
    long error = time_now() >= deadline
                     ? -ETIMEDOUT
                     : wait_event_timeout(&nobody, time_now() >= deadline, deadline);
    if (error == -ETIMEDOUT || error == 0)
        return 0;
    u64 now = time_now();
    return sleep_ended_early(deadline > now ? (deadline - now) * NS_PER_TICK : 0, absolute, remain);
}

bool clock_is_real_time(int clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME;
}

long sys_clock_nanosleep(u64 clock, u64 flags, u64 request, u64 remain)
{
    struct timespec ts;
    int id = (int)clock;
    bool absolute = flags & TIMER_ABSTIME;
    if (!clock_is_real_time(id))
        return cpu_clock_nanosleep(id, absolute, request, remain);
    if (get_user(ts, request))
        return -EFAULT;
    if (!timespec_ok(&ts))
        return -EINVAL;
    return sleep_for(deadline_from(ts.sec, ts.nsec, absolute, id), absolute, remain);
}

long sys_nanosleep(u64 request, u64 remain)
{
    return sys_clock_nanosleep(CLOCK_MONOTONIC, 0, request, remain);
}

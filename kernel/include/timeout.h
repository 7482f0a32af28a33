/*
 * Time and timeouts. Time is the hart's time counter (ticks, 10 MHz); wall time is time since boot
 * plus an offset read from the RTC at boot.
 *
 * A timeout calls a function once, later: TIMEOUT_IRQ from the timer interrupt (no sleeping),
 * TIMEOUT_THREAD from a kernel thread (sleeping allowed), on behalf of the thread that armed it
 * (see struct work_origin).
 */
#pragma once
#include "types.h"
#include "list.h"
#include "taskq.h"

#define TICKS_PER_SEC 10000000UL
#define NS_PER_TICK   100UL

static inline u64 ns_to_ticks(u64 ns)
{
    return (ns + NS_PER_TICK - 1) / NS_PER_TICK;
}

u64 time_now(void);        /* ticks since boot */
u64 time_boot_ticks(void); /* read_time() at boot */
u64 time_now_ns(void);     /* CLOCK_MONOTONIC */
u64 time_wall_ns(void);    /* CLOCK_REALTIME */
void time_set_wall_ns(u64 ns);

/*
 * The next expiry of a periodic timer that was due at when: in phase, and at least a millisecond
 * ahead if the interval is shorter, so that no program can keep a hart in its timer interrupt.
 * *expired gets the number of periods until then, at least 1.
 */
#define TIMER_PERIOD_MIN (TICKS_PER_SEC / 1000)
static inline u64 timeout_advance(u64 when, u64 interval, u64 *expired)
{
    u64 soonest = MAX(time_now() + 1, when + MIN(interval, TIMER_PERIOD_MIN));

    if (interval < TIMER_PERIOD_MIN)
        soonest = MAX(soonest, time_now() + TIMER_PERIOD_MIN);
    *expired = (soonest - when + interval - 1) / interval;
    return when + *expired * interval;
}

enum timeout_kind { TIMEOUT_IRQ, TIMEOUT_THREAD };

struct timeout {
    struct list link;
    u64 when; /* ticks */
    void (*fn)(void *arg);
    void *arg;
    u8 kind;
    bool armed;
    int running;      /* harts inside its expiry: a callback that re-arms it may overlap the next */
    struct task task; /* its origin; TIMEOUT_THREAD: queued for the thread */
};

void timeout_init_entry(struct timeout *t, enum timeout_kind kind, void (*fn)(void *), void *arg);
/*
 * The memory of a timeout may be freed after timeout_cancel_sync only, never by its callback.
 */
/* Arm (or re-arm) for an absolute time; records the calling thread as origin. Any context. */
void timeout_set(struct timeout *t, u64 when);
/* Also waits for a running callback to end; may sleep; not from the callback itself. */
void timeout_cancel_sync(struct timeout *t);

void timeout_init(void);
void timeout_start_thread(void);
/* Called by the timer interrupt: runs what is due, programs the next event. */
void timeout_run(void);

/*
 * Time and timeouts. Time is the hart's time counter (ticks, 10 MHz); wall time is time since boot
 * plus an offset (opt/rtc, opt/settime).
 *
 * A timeout calls a function once, later: TIMEOUT_IRQ from the timer interrupt (no sleeping),
 * TIMEOUT_THREAD from a kernel thread (sleeping allowed), on behalf of the thread that armed it
 * (see struct work_origin).
 */
#pragma once
#include "types.h"
#include "list.h"
#include "optional.h"
#include "taskq.h"

#define TICKS_PER_SEC 10000000UL
#define NS_PER_TICK   100UL

static inline u64 ns_to_ticks(u64 ns)
{
    return (ns + NS_PER_TICK - 1) / NS_PER_TICK;
}

u64 time_now(void);     /* ticks since boot */
u64 time_now_ns(void);  /* CLOCK_MONOTONIC */
u64 time_wall_ns(void); /* CLOCK_REALTIME */
void time_set_wall_ns(u64 ns);
/* opt/rtc: sets the wall time, before there are drivers. Without it that is the time since boot. */
OPTIONAL(CONFIG_RTC, void, rtc_read, (void))

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

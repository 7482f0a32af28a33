/* Periodic timers of options. */
#pragma once
#include "timeout.h"

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

/* cpuclock.h: clocks of CPU time, for the timers that use them. */
#pragma once

#include "proc/internal.h"

#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID  3

struct cpu_clock {
    bool is_thread, only_user;
    int number;
    u64 id; /* never reused: tells a later owner of the number apart */
};
u64 proc_cpu_ticks(struct proc *p, bool only_user);              /* locked */
bool cpu_clock_ticks(const struct cpu_clock *clock, u64 *ticks); /* locked; false: it is gone */
u64 cpu_clock_look(u64 left); /* time of the next look at a clock, left ticks from its target */
/* Finds the target of a clock id; -EINVAL. to_read: a thread's own number names its process. */
long cpu_clock_find(int id, bool to_read, struct cpu_clock *clock);
bool cpu_clock_read(const struct cpu_clock *clock, u64 *ticks);

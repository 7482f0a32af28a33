/* rusage.h: struct rusage, as getrusage() and wait4() give it. */
#pragma once
#include "opt/cpuclock/timeval.h"

#include "proc/internal.h"

struct rusage {
    struct timeval64 utime, stime;
    long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock, msgsnd, msgrcv,
        nsignals, nvcsw, nivcsw;
};
void rusage_times(struct rusage *ru, u64 utime_ticks, u64 stime_ticks);
struct timeval64 ticks_to_timeval(u64 ticks);

#define RUSAGE_SELF     0
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD   1

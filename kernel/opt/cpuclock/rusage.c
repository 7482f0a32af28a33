/* rusage.c: what finished children used, and times in the form of struct rusage. */
#include "opt/cpuclock/rusage.h"
#include "klib.h"
#include "proc/wait.h"

struct timeval64 ticks_to_timeval(u64 ticks)
{
    return (struct timeval64){(i64)(ticks / TICKS_PER_SEC), (i64)(ticks % TICKS_PER_SEC / 10)};
}

void rusage_times(struct rusage *ru, u64 utime_ticks, u64 stime_ticks)
{
    ru->utime = ticks_to_timeval(utime_ticks);
    ru->stime = ticks_to_timeval(stime_ticks);
}

long put_rusage(va_t addr, const struct wait_result *r)
{
    struct rusage ru;
    memset(&ru, 0, sizeof(ru));
    rusage_times(&ru, r->utime, r->stime);
    ru.nvcsw = (long)r->switches[0];
    ru.nivcsw = (long)r->switches[1];
    return copyout(addr, &ru, sizeof(ru));
}

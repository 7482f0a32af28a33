/* rusage.c: what finished children used, and times in the form of struct rusage. */
#include "opt/cpuclock/rusage.h"
#include "klib.h"
#include "opt/wait4/wait.h"

struct timeval64 ticks_to_timeval(u64 ticks)
{
    return (struct timeval64){(i64)(ticks / TICKS_PER_SEC), (i64)(ticks % TICKS_PER_SEC / 10)};
}

void rusage_times(struct rusage *ru, u64 utime_ticks, u64 stime_ticks)
{
    ru->utime = ticks_to_timeval(utime_ticks);
    ru->stime = ticks_to_timeval(stime_ticks);
}

void usage_get(struct wait_result *out, const struct proc *child)
{
    out->utime = child->utime + child->cutime;
    out->stime = child->stime + child->cstime;
    out->switches[0] = child->switches[0] + child->cswitches[0];
    out->switches[1] = child->switches[1] + child->cswitches[1];
}

void usage_keep(const struct wait_result *r)
{
    curproc->cutime += r->utime;
    curproc->cstime += r->stime;
    curproc->cswitches[0] += r->switches[0];
    curproc->cswitches[1] += r->switches[1];
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

/* settime.c: setting the wall clock, and the older calls that read it. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "proc.h"
#include "opt/cpuclock/timeval.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

long sys_clock_getres(u64 clock, u64 addr)
{
    u64 ns;
    long error = clock_read((int)clock, &ns);
    struct timespec ts = {0, 1};
    return error || !addr ? error : put_user(addr, ts);
}

long sys_clock_settime(u64 clock, u64 addr)
{
    struct timespec ts;
    u64 now;
    if ((int)clock < 0) /* nobody may set the clock of a process */
        return clock_read((int)clock, &now) ? -EINVAL : -EPERM;
    if (clock != CLOCK_REALTIME)
        return -EINVAL;
    if (get_user(ts, addr))
        return -EFAULT;
    if (!timespec_ok(&ts))
        return -EINVAL;
    if (curproc->euid)
        return -EPERM;
    time_set_wall_ns(saturating_ns(ts.sec, ts.nsec));
    return 0;
}

long sys_settimeofday(u64 tv_addr, u64 tz_addr)
{
    struct timeval64 tv;
    (void)tz_addr; /* the kernel has no use for a time zone */
    if (!tv_addr)
        return curproc->euid ? -EPERM : 0;
    if (copyin(&tv, tv_addr, sizeof(tv)))
        return -EFAULT;
    if (tv.sec < 0 || tv.usec < 0 || tv.usec >= 1000000)
        return -EINVAL;
    if (curproc->euid)
        return -EPERM;
    time_set_wall_ns(saturating_ns(tv.sec, tv.usec * 1000));
    return 0;
}

long sys_gettimeofday(u64 tv_addr, u64 tz_addr)
{
    u64 ns = time_wall_ns();
    struct timeval64 tv = {(i64)(ns / NS_PER_SEC), (i64)(ns % NS_PER_SEC / 1000)};
    int zone[2] = {0, 0};
    if (tv_addr && put_user(tv_addr, tv))
        return -EFAULT;
    return tz_addr ? put_user(tz_addr, zone) : 0;
}

/* usage.c: getrusage(2), times(2). */
#include "abi/errno.h"
#include "klib.h"
#include "opt/cpuclock/rusage.h"
#include "proc.h"
#include "proc/internal.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

static void sum_threads(struct proc *p, u64 *utime, u64 *stime, struct rusage *ru)
{
    spin_lock(&proc_lock);
    *utime = p->utime;
    *stime = p->stime;
    if (ru) {
        ru->nvcsw = (long)p->switches[0];
        ru->nivcsw = (long)p->switches[1];
    }
    list_for_each(t, &p->threads, struct thread, in_proc) {
        *utime += t->utime;
        *stime += t->stime;
        if (ru) {
            ru->nvcsw += (long)t->switches[0];
            ru->nivcsw += (long)t->switches[1];
        }
    }
    spin_unlock(&proc_lock);
    *stime += read_time() - current->run_since;
}

long sys_getrusage(u64 who, u64 addr)
{
    struct rusage ru;
    u64 utime, stime;
    memset(&ru, 0, sizeof(ru));
    switch ((int)who) {
    case RUSAGE_SELF:
        sum_threads(curproc, &utime, &stime, &ru);
        ru.minflt = (long)curproc->minflt;
        ru.maxrss = (long)(curproc->vm->peak * PAGE_SIZE / 1024);
        break;
    case RUSAGE_CHILDREN:
        utime = curproc->cutime, stime = curproc->cstime;
        ru.nvcsw = (long)curproc->cswitches[0], ru.nivcsw = (long)curproc->cswitches[1];
        break;
    case RUSAGE_THREAD:
        utime = current->utime, stime = current->stime + read_time() - current->run_since;
        ru.nvcsw = (long)current->switches[0], ru.nivcsw = (long)current->switches[1];
        break;
    default:
        return -EINVAL;
    }
    rusage_times(&ru, utime, stime);
    return copyout(addr, &ru, sizeof(ru));
}

long sys_times(u64 addr)
{
    u64 utime, stime;
    sum_threads(curproc, &utime, &stime, NULL);
    const u64 tick = TICKS_PER_SEC / 100;
    i64 out[4] = {(i64)(utime / tick), (i64)(stime / tick), (i64)(curproc->cutime / tick),
                  (i64)(curproc->cstime / tick)};
    if (addr && copyout(addr, out, sizeof(out)))
        return -EFAULT;
    return (long)(time_now() / tick);
}

/* kcov: not instrumented on linux: part of the scheduler */
/* account.c: the CPU time that threads use, by user mode and kernel. */
#include "proc.h"

void account_switch(struct thread *prev, u64 now)
{
    u64 used = now - prev->run_since;
    if (prev->tf && prev->tf->syscall != ~0UL)
        prev->stime += used;
    else
        prev->utime += used;
}

void account_exit(struct proc *p, const struct thread *t)
{
    p->utime += t->utime;
    p->stime += t->stime;
    p->switches[0] += t->switches[0];
    p->switches[1] += t->switches[1];
}

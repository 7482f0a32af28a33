/* kcov: not instrumented on linux: part of the scheduler */
/* account.c: the CPU time that threads use, by user mode and kernel. */
#include "proc.h"
#include "riscv.h"

void account_switch(struct thread *prev, u64 now)
{
    u64 used = now - prev->run_since;
    if (prev->tf && prev->tf->syscall != ~0UL)
        prev->stime += used;
    else
        prev->utime += used;
}

__nocov void account_side(u64 *side)
{
    u64 now = read_time(), used = now - current->run_since;
    current->run_since = now; /* first: an interrupt in between then counts no time twice */
    *side += used;
}

void account_exit(struct proc *p, const struct thread *t)
{
    p->utime += t->utime;
    p->stime += t->stime;
    p->switches[0] += t->switches[0];
    p->switches[1] += t->switches[1];
}

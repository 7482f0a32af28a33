/* kcov: not instrumented on linux: part of the scheduler */
/* account.c: the CPU time that threads use, by user mode and kernel. */
#include "proc.h"
#include "riscv.h"

/* Also when a thread takes its own place: next may be prev. */
void account_switch(struct thread *prev, struct thread *next, u64 now)
{
    u64 used = now - prev->run_since;
    if (prev->tf && prev->tf->syscall != ~0UL)
        prev->stime += used;
    else
        prev->utime += used;
    if (next != prev) /* as on Linux, a yield is involuntary: the thread could have gone on */
        prev->switches[prev->state == THREAD_RUNNABLE]++;
    next->run_since = now;
}

/* The time since the thread last entered or left the kernel. */
__nocov void account_syscall(bool enters)
{
    u64 now = read_time(), used = now - current->run_since;
    current->run_since = now; /* first: an interrupt in between then counts no time twice */
    *(enters ? &current->utime : &current->stime) += used;
}

void account_exit(struct proc *p, const struct thread *t)
{
    p->utime += t->utime;
    p->stime += t->stime;
    p->switches[0] += t->switches[0];
    p->switches[1] += t->switches[1];
}

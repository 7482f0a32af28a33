/* kcov: not instrumented on linux: the scheduler */
/* slice.c: how long a thread may run before another one gets its turn. */
#include "opt/priority/policies.h"
#include "proc.h"

/*
 * Every thread gets its turn; the nice value sets its length, in proportion to 20 - nice. No thread
 * has nice 20, so no slice is empty.
 */
u64 sched_slice(const struct thread *t)
{
    int nice = t->policy == SCHED_IDLE ? 19 : t->nice;
    return SLICE_TICKS * (u64)(20 - nice) / 20;
}

/* kcov: not instrumented: part of the allocators */
/*
 * Allocation failure injection, after Linux's fail-nth: a thread arms its own counter by writing N
 * to /proc/self/fail-nth, and its N-th allocation from then on fails, once. Interrupts and kernel
 * threads are never hit. Reading the file gives what is left of the counter: 0 means it has fired.
 */
#include "alloc.h"
#include "proc.h"

#ifdef CONFIG_FAULT_INJECTION
bool should_fail_alloc(void)
{
    struct thread *t = current;
    if (t->fail_nth == 0 || this_cpu()->intr_depth)
        return false;
    return --t->fail_nth == 0;
}
#endif

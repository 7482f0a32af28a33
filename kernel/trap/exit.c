/* kcov: not instrumented: runs after every interrupt, and their time varies */
/*
 * The last C code before user mode: preemption and signals. Preemption counts as part of the
 * interrupt that caused it, so a traced thread records nothing of it; the nesting depth travels
 * with the thread through schedule().
 */
#include "kcov.h"
#include "proc.h"
#include "riscv.h"
#include "trap.h"

static void preempt(void)
{
    this_cpu()->intr_depth++;
    kcov_irq_enter();
    schedule();
    this_cpu()->intr_depth--;
    kcov_irq_leave();
}

/* Signals or a stop to handle? After an interrupt this test must not be recorded. */
static bool has_work(const struct trapframe *tf)
{
    bool was_interrupt = tf->cause & SCAUSE_INTERRUPT;

    if (was_interrupt)
        kcov_irq_enter();
    bool has = signal_pending(current) || current->exiting || signal_mask_is_borrowed() ||
               tf->syscall != ~0UL || curproc->state != PROC_RUNNING;
    if (was_interrupt)
        kcov_irq_leave();
    return has;
}

void trap_exit_to_user(struct trapframe *tf)
{
    for (;;) {
        irq_disable();
        if (this_cpu()->need_resched) {
            preempt();
            continue;
        }
        if (likely(!has_work(tf)))
            return;
        irq_enable();
        signal_deliver(tf);
    }
}

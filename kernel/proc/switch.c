/* kcov: not instrumented: between the two threads nothing belongs to either */
/*
 * The machine side of a context switch: floating-point state, page table, coverage, stacks.
 * Floating-point registers are saved if the user program changed them (sstatus.FS is Dirty) and
 * loaded only if the hart holds those of another thread.
 */
#include "kcov.h"
#include "proc.h"
#include "riscv.h"
#include "vm.h"

static bool is_user(const struct thread *t)
{
    return t->proc != &kernel_proc;
}

static void fp_leave(struct thread *t)
{
    if (!is_user(t) || (t->tf->status & SSTATUS_FS) != SSTATUS_FS_DIRTY)
        return;
    fp_save(&t->fp);
    t->tf->status = (t->tf->status & ~SSTATUS_FS) | SSTATUS_FS_CLEAN;
}

void fp_sync(void)
{
    irq_push_off();
    fp_leave(current);
    irq_pop_off();
}

static void fp_enter(struct cpu *cpu, struct thread *t)
{
    if (!is_user(t) || (cpu->fp_owner == t && t->fp_cpu == cpu))
        return;
    fp_restore(&t->fp);
    cpu->fp_owner = t;
    t->fp_cpu = cpu;
}

struct thread *context_switch(struct thread *prev, struct thread *next)
{
    struct cpu *cpu = prev->cpu;
    fp_leave(prev);
    prev->saved_intr_depth = cpu->intr_depth;
    prev->on_cpu = false;
    next->on_cpu = true;
    next->cpu = cpu;
    cpu->running = next;
    cpu->intr_depth = next->saved_intr_depth;
    if (is_user(next))
        vm_activate(next->proc->vm);
    kcov_switch(next);
    prev = swtch(prev, next);
    fp_enter(current->cpu, current);
    return prev;
}

/* A new thread does not return from context_switch(), so it loads its registers here. */
void fp_first(void)
{
    fp_enter(current->cpu, current);
}

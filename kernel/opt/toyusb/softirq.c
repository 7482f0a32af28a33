/* softirq.c: soft interrupts: tasks that run at the end of the interrupt that raised them. */
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "proc.h"
#include "taskq.h"

/* Two harts may raise one task at the same time: the one that sets queue owns the rest of it. */
void softirq_raise(struct task *t)
{
    struct taskq *none = NULL;
    irq_push_off();
    struct cpu *cpu = this_cpu();
    /* The value only means "queued". */
    if (__atomic_compare_exchange_n(&t->queue, &none, (struct taskq *)cpu, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        work_origin_capture(&t->origin);
        list_push_back(&cpu->softirqs, &t->link);
    }
    bool now = cpu->intr_depth == 0 && !cpu->in_softirq;
    if (now) {
        kcov_irq_enter(); /* this thread must not record the work of its soft interrupts */
        softirq_run();
        kcov_irq_leave();
    }
    irq_pop_off();
}

/* Interrupts off; at the end of the outermost interrupt, or right away in a thread. */
void softirq_run(void)
{
    struct cpu *cpu = this_cpu();
    if (cpu->in_softirq || cpu->intr_depth > 1)
        return;
    cpu->in_softirq = true;
    while (!list_empty(&cpu->softirqs)) {
        struct task *t = list_first(&cpu->softirqs, struct task, link);
        list_remove(&t->link);
        struct task copy = *t;
        atomic_store(&t->queue, NULL); /* from here on it may be raised again, on any hart */
        const struct work_origin *outer = current->on_behalf_of;
        task_run(&copy, true);
        current->on_behalf_of = outer;
    }
    cpu->in_softirq = false;
}

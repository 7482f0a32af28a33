/* softirq.c: soft interrupts: tasks that run at the end of the interrupt that raised them. */
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "proc.h"
#include "taskq.h"

/* Of each hart. */
static struct raised {
    struct list tasks;
    bool runs;
} raised[MAX_HARTS];

static struct raised *raised_here(void)
{
    struct raised *here = &raised[this_cpu()->index];
    if (!here->tasks.next)
        list_init(&here->tasks);
    return here;
}

/* Two harts may raise one task at the same time: the one that sets queue owns the rest of it. */
void softirq_raise(struct task *t)
{
    struct taskq *none = NULL;
    irq_push_off();
    struct cpu *cpu = this_cpu();
    struct raised *here = raised_here();
    /* The value only means "queued". */
    if (__atomic_compare_exchange_n(&t->queue, &none, (struct taskq *)cpu, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        work_origin_capture(&t->origin);
        list_push_back(&here->tasks, &t->link);
    }
    bool now = cpu->intr_depth == 0 && !here->runs;
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
    struct raised *here = raised_here();
    if (here->runs || this_cpu()->intr_depth > 1)
        return;
    here->runs = true;
    while (!list_empty(&here->tasks)) {
        struct task *t = list_first(&here->tasks, struct task, link);
        list_remove(&t->link);
        struct task copy = *t;
        atomic_store(&t->queue, NULL); /* from here on it may be raised again, on any hart */
        const struct work_origin *outer = current->on_behalf_of;
        task_run(&copy, true);
        current->on_behalf_of = outer;
    }
    here->runs = false;
}

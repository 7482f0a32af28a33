/* irq.c: takes the handler of an interrupt away. */
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "proc.h"
#include "trap/plic.h"

/* Empty: a hart that runs it has left plic_dispatch, where interrupts are off. */
static void answer(void *arg)
{
    (void)arg;
}

/*
 * Unlinks the action, then waits until every other hart has answered an IPI: plic_dispatch runs
 * with interrupts off, so no hart can still hold a pointer to the action. Thread context only.
 */
void irq_unregister(u32 source, irq_handler handler, void *arg)
{
    struct irq_action *found = NULL;
    spin_lock(&irq_lock);
    for (struct irq_action **p = &irq_actions[source]; *p; p = &(*p)->next) {
        if ((*p)->fn == handler && (*p)->arg == arg) {
            found = *p;
            atomic_store(p, found->next);
            break;
        }
    }
    if (!irq_actions[source])
        irq_set_enabled(source, false);
    spin_unlock(&irq_lock);
    ipi_call((u32)harts_online(), answer, NULL);
    kfree(found);
}

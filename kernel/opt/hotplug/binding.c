/* binding.c: users of a device who outlive its removal. */
#include "opt/hotplug/model.h"
#include "opt/hotplug/hotplug.h"
#include "riscv.h"

struct binding *binding_get(struct binding *b)
{
    atomic_add(&b->refs, 1);
    return b;
}

/*
 * binding_end writes dead, then reads active; binding_enter raises active, then reads dead; with
 * both barriers one side sees the other. Every caller has a reference, so b outlives the wake-up.
 */
bool binding_enter(struct binding *b)
{
    atomic_add(&b->active, 1);
    mb();
    if (!atomic_load(&b->dead))
        return true;
    binding_leave(b);
    return false;
}

void binding_leave(struct binding *b)
{
    if (atomic_sub(&b->active, 1) == 0 && atomic_load(&b->dead))
        wake_up(&b->idle);
}

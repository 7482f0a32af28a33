/* vfork.c: a parent that waits until its child executes a program or exits. */
#include "proc.h"
#include "opt/clone/clone.h"

void vfork_release(struct proc *p)
{
    atomic_store(&p->vfork_done, true);
    wake_up(&p->vfork_wait);
}

/* The child runs in our address space; a fatal signal ends the wait. */
void vfork_wait(struct proc *child)
{
    wait_event_killable(&child->vfork_wait, atomic_load(&child->vfork_done));
}

static void init_vfork(struct proc *p)
{
    waitq_init(&p->vfork_wait);
}

PROC_PART(vfork) = {.init = init_vfork};

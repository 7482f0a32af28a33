/* each.h: calls fn for each process or thread, with proc_lock, until it answers false. */
#pragma once
#include "proc/internal.h"

static inline void proc_for_each(bool (*fn)(struct proc *p, void *arg), void *arg)
{
    spin_lock(&proc_lock);
    list_for_each(p, &all_procs, struct proc, in_all)
        if (!fn(p, arg))
            break;
    spin_unlock(&proc_lock);
}

static inline void thread_for_each(bool (*fn)(struct thread *t, void *arg), void *arg)
{
    spin_lock(&proc_lock);
    list_for_each(t, &all_threads, struct thread, in_all)
        if (!fn(t, arg))
            break;
    spin_unlock(&proc_lock);
}

/* proc_watch.h: observers of processes. */
#pragma once

#include "proc.h"

/*
 * An observer of a process's events: kqueue. event() runs under proc_lock. The watcher holds a
 * reference to struct proc, which does not keep the process alive.
 */
struct proc_watch {
    struct list link; /* (proc_lock) */
    struct proc *proc;
    void (*event)(struct proc_watch *w, enum proc_event what, i64 data);
};
long proc_watch(struct proc_watch *w, int pid); /* of a zombie: event(PROC_EXITED) at once */
void proc_unwatch(struct proc_watch *w);

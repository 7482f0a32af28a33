/*
 * Watching processes from outside: fork, exec, exit and signals, for EVFILT_PROC and EVFILT_SIGNAL.
 */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "opt/kqueue/proc_watch.h"

long proc_watch(struct proc_watch *w, int pid)
{
    long error = -ESRCH;
    spin_lock(&proc_lock);
    struct proc *p = proc_find(pid);
    if (p) {
        w->proc = proc_get(p);
        list_push_back(&p->watchers, &w->link);
        if (p->state == PROC_ZOMBIE)
            w->event(w, PROC_EXITED, p->wait_status);
        error = 0;
    }
    spin_unlock(&proc_lock);
    return error;
}

void proc_unwatch(struct proc_watch *w)
{
    if (!w->proc)
        return;
    spin_lock(&proc_lock);
    list_remove(&w->link);
    spin_unlock(&proc_lock);
    proc_put(w->proc);
    w->proc = NULL;
}

void proc_tell(struct proc *p, enum proc_event what, i64 data)
{
    list_for_each(w, &p->watchers, struct proc_watch, link)
        w->event(w, what, data);
}

static void init_watchers(struct proc *p)
{
    list_init(&p->watchers);
}

PROC_PART(kqueue) = {.init = init_watchers};

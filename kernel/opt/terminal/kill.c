/* kill.c: signals to process groups and to all processes. */
#include "abi/errno.h"
#include "bugs.h"
#include "opt/terminal/tty.h"
#include "proc.h"
#include "proc/each.h"
#include "opt/signals/signals.h"

struct pgrp_send {
    int pgid, sig, found;
    const siginfo_t *info;
};

static bool send_one(struct proc *p, void *arg)
{
    struct pgrp_send *s = arg;
    if (p->pgid == s->pgid) {
        s->found++;
        if (s->sig)
            signal_send_proc_locked(p, s->sig, s->info);
    }
    return true;
}

int signal_send_pgrp(int pgid, int sig, const siginfo_t *info)
{
    struct pgrp_send s = {.pgid = pgid, .sig = sig, .info = info};
    proc_for_each(send_one, &s);
    return s.found ? 0 : -ESRCH;
}

struct broadcast {
    int pgid; /* -1: every process but the caller's and init */
    int sig, found, reached;
    const siginfo_t *info;
};

static bool broadcast_one(struct proc *p, void *arg)
{
    struct broadcast *b = arg;
    if (b->pgid < 0 ? p->pid <= 1 || p == curproc : p->pgid != b->pgid)
        return true;
    b->found++;
    if (!signal_allowed(p))
        return true;
    b->reached++;
    if (b->sig)
        signal_send_proc_locked(p, b->sig, b->info);
    return true;
}

long kill_group(int pid, int sig, const siginfo_t *info)
{
    BUG_NOTE_MORE(kill_int_min, 1, (u32)pid ^ 0x80000000u);
    if (!BUG(kill_int_min) && pid == (int)0x80000000) /* has no negation */
        return -ESRCH;
    struct broadcast b = {.pgid = pid == -1  ? -1
                                  : pid == 0 ? curproc->pgid
                                             : -pid,
                          .sig = sig,
                          .info = info};
    proc_for_each(broadcast_one, &b);
    return !b.found ? -ESRCH : b.reached ? 0 : -EPERM;
}

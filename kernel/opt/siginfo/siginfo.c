/* siginfo.c: the records of pending signals. */
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/signals/signals.h"

void signal_flush(struct list *queue)
{
    list_for_each_safe(q, queue, struct sigqueued, link) {
        list_remove(&q->link);
        kfree(q);
    }
}

int siginfo_add(struct list *queue, int sig, const siginfo_t *info)
{
    struct sigqueued *q = kmalloc(sizeof(*q));

    if (!q)
        return sig < SIGRTMIN ? 0 : -EAGAIN;
    if (info) {
        q->info = *info;
    } else {
        memset(&q->info, 0, sizeof(q->info));
        q->info.si_code = SI_KERNEL;
    }
    q->info.si_signo = sig;
    list_push_back(queue, &q->link);
    return 0;
}

static bool take(struct list *queue, int sig, siginfo_t *info)
{
    bool found = false;

    list_for_each_safe(q, queue, struct sigqueued, link) {
        if (q->info.si_signo != sig)
            continue;
        if (found)
            return true;
        *info = q->info;
        found = true;
        list_remove(&q->link);
        kfree(q);
    }
    return false;
}

bool siginfo_take(struct proc *p, struct list *queue, int sig, siginfo_t *info)
{
    bool is_left;

    memset(info, 0, sizeof(*info));
    info->si_signo = sig;
    info->si_code = SI_KERNEL;
    is_left = take(queue, sig, info);
    if (info->si_code == SI_TIMER)
        posix_timer_delivered(p, info);
    return is_left;
}

void siginfo_user(siginfo_t *info, int sig, int code)
{
    if (BUG(tkill_siginfo_leak) && code == SI_TKILL)
        BUG_NOTE(tkill_siginfo_leak, 1);
    else
        memset(info, 0, sizeof(*info));
    info->si_signo = sig;
    info->si_code = code;
    info->kill.pid = curproc->pid;
    info->kill.uid = curproc->uid;
}

void siginfo_fault(siginfo_t *info, int sig, int code, u64 addr)
{
    memset(info, 0, sizeof(*info));
    info->si_signo = sig;
    info->si_code = code;
    info->fault.addr = addr;
}

void siginfo_child(siginfo_t *info, const struct proc *child)
{
    int status = child->wait_status;
    memset(info, 0, sizeof(*info));
    info->si_signo = child->exit_signal;
    bool killed = status & 0x7f;
    info->si_code = !killed ? CLD_EXITED : status & 0x80 ? CLD_DUMPED : CLD_KILLED;
    info->kill.pid = child->pid;
    info->kill.uid = child->uid;
    info->kill.status = killed ? status & 0x7f : status >> 8 & 0xff;
    info->kill.utime = (long)(child->utime / (TICKS_PER_SEC / 100));
    info->kill.stime = (long)(child->stime / (TICKS_PER_SEC / 100));
}

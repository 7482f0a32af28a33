/* siginfo.c: the records of pending signals. */
#include "alloc.h"
#include "klib.h"
#include "proc/internal.h"

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

bool siginfo_take(struct list *queue, int sig, siginfo_t *info)
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

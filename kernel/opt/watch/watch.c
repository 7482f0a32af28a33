/*
 * watch.c: watching open files without keeping them open, for epoll and kqueue; see watch.h.
 */
#include "alloc.h"
#include "file.h"
#include "opt/watch/watch.h"
#include "opt/poll/wait.h"

struct mutex watch_mutex = MUTEX_INIT(watch_mutex, "watch");

struct watcher_queue {
    struct watcher_queue *next;
    struct waiter waiter;
};

static void queue_wakes(struct waiter *waiter, u32 events)
{
    struct watcher *w = waiter->arg;

    w->wake(w, events);
}

static void hang_on(struct poll_table *pt, struct waitq *queue)
{
    struct watcher *w = container_of(pt, struct watcher, pt);
    struct watcher_queue *q = kzalloc(sizeof(*q));

    if (!q) {
        pt->failed = true;
        return;
    }
    waiter_init(&q->waiter);
    q->waiter.wake = queue_wakes;
    q->waiter.arg = w;
    q->next = w->queues;
    w->queues = q;
    waitq_add(queue, &q->waiter);
}

u32 watcher_begin(struct watcher *w, bool *no_memory)
{
    u32 bits;

    w->pt = (struct poll_table){.add = hang_on};
    w->queues = NULL;
    list_push_back(&w->file->watches, &w->link);
    bits = file_poll(w->file, &w->pt);
    *no_memory = w->pt.failed;
    return bits;
}

void watcher_end(struct watcher *w)
{
    while (w->queues) {
        struct watcher_queue *q = w->queues;

        w->queues = q->next;
        waitq_remove(&q->waiter);
        kfree(q);
    }
    list_remove(&w->link);
}

void watch_release(struct file *file)
{
    if (list_empty(&file->watches)) /* no new one can appear: there is no reference left */
        return;
    mutex_lock(&watch_mutex);
    while (!list_empty(&file->watches)) {
        struct watcher *w = list_first(&file->watches, struct watcher, link);

        w->gone(w);
    }
    mutex_unlock(&watch_mutex);
}

void watch_fd_closed(struct file *file, const struct files *table, int fd)
{
    if (list_empty(&file->watches))
        return;
    mutex_lock(&watch_mutex);
    list_for_each_safe(w, &file->watches, struct watcher, link)
        if (w->fd_closed)
            w->fd_closed(w, table, fd);
    mutex_unlock(&watch_mutex);
}

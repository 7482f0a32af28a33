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

/* More than the length of any path: the search has found a loop, or no end within its bound. */
#define NO_END 1000

static u64 searches; /* (watch_mutex) */

/*
 * The edges of the longest path that starts at w, or NO_END if one has more than room edges or
 * reaches loop. Each file is searched once, however many paths lead to it. A file that is being
 * searched already says NO_END: it is on a loop (of a kernel with the bug epoll_loop).
 */
static int edges_below(struct watching *w, const struct watching *loop, int room)
{
    int longest = 0;

    if (w == loop || room < 0)
        return NO_END;
    if (w->below.search == searches)
        return w->below.edges;
    w->below.search = searches;
    w->below.edges = NO_END;
    list_for_each(to, &w->watchers, struct watcher, by_link) {
        if (to->file->ops->watching) {
            int edges = 1 + edges_below(to->file->ops->watching(to->file), loop, room - 1);

            longest = MAX(longest, edges);
        }
    }
    w->below.edges = longest;
    return longest;
}

/* The same for the longest path that ends at w; a loop has been searched below. */
static int edges_above(struct watching *w, int room)
{
    int longest = 0;

    if (room < 0)
        return NO_END;
    if (w->above.search == searches)
        return w->above.edges;
    w->above.search = searches;
    w->above.edges = NO_END;
    list_for_each(from, &w->file->watches, struct watcher, link) {
        int edges = 1 + edges_above(from->by, room - 1);

        longest = MAX(longest, edges);
    }
    w->above.edges = longest;
    return longest;
}

bool watch_nests_badly(struct watching *by, struct file *file, int max)
{
    int room = max - 1;

    if (!file->ops->watching)
        return false;
    searches++;
    room -= edges_below(file->ops->watching(file), by, room);
    return room < 0 || edges_above(by, room) > room;
}

u32 watcher_begin(struct watcher *w, bool *no_memory)
{
    u32 bits;

    w->pt = (struct poll_table){.add = hang_on};
    w->queues = NULL;
    list_push_back(&w->file->watches, &w->link);
    list_push_back(&w->by->watchers, &w->by_link);
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
    list_remove(&w->by_link);
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

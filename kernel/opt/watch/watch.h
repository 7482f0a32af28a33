/* watch.h: watchers of open files, for epoll and kqueue. */
#pragma once

#include "list.h"
#include "lock.h"
#include "poll.h"

/*
 * A watcher observes an open file without holding a reference (epoll, kqueue). It is on the file's
 * wait queues, so wake() runs in any context, with a queue's lock held. gone() runs when the file's
 * last reference goes, fd_closed() (may be 0) when a descriptor of the file is closed in some
 * table; both may end the watcher. All but wake() run under watch_mutex.
 */
struct watcher_queue;

struct watcher {
    struct list link; /* in file->watches */
    struct file *file;
    struct poll_table pt;
    struct watcher_queue *queues;
    void (*wake)(struct watcher *w, u32 events);
    void (*gone)(struct watcher *w);
    void (*fd_closed)(struct watcher *w, const struct files *table, int fd);
};

extern struct mutex watch_mutex;
/* Starts watching and returns the present bits; the caller has set the callbacks and the file. */
u32 watcher_begin(struct watcher *w, bool *no_memory);
void watcher_end(struct watcher *w);

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
    struct watching *by;
    struct list by_link; /* in by->watchers */
    struct poll_table pt;
    struct watcher_queue *queues;
    void (*wake)(struct watcher *w, u32 events);
    void (*gone)(struct watcher *w);
    void (*fd_closed)(struct watcher *w, const struct files *table, int fd);
};

/*
 * A file that watches others: an epoll or a kqueue, which file_ops.watching of the file returns.
 * Such files make a graph, because they watch each other. A wake-up goes along its edges with the
 * locks of all queues on its way held, and poll recurses along them. So the graph has no loop, and
 * its paths are short.
 */
struct watching {
    struct file *file;
    struct list watchers; /* (watch_mutex) */
    struct {
        u64 search; /* the search that has stored it */
        int edges;
    } below, above; /* (watch_mutex) the longest paths that start and end here */
};

extern struct mutex watch_mutex;

/* Before file is watched: true if that would close a loop, or make a path of more than max edges.
 * Needs watch_mutex. */
bool watch_nests_badly(struct watching *by, struct file *file, int max);
/* Starts watching and returns the present bits; the caller has set the callbacks, file and by. */
u32 watcher_begin(struct watcher *w, bool *no_memory);
void watcher_end(struct watcher *w);

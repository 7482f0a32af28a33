/*
 * poll.h: readiness. An object that can become ready owns a struct waitq (wait.h); a waiter for
 * readiness - a blocked read, ppoll, pselect6, epoll, kqueue - adds a struct waiter to it.
 *
 *     driver:  u32 drv_poll(f, pt) { poll_wait(pt, &dev->waitq); return ready bits; }
 *              ... state changes ...  wake_up_events(&dev->waitq, POLLIN);
 */
#pragma once

#include "types.h"
#include "wait.h"
#include "optional.h"

#define POLLIN     0x0001
#define POLLOUT    0x0004
#define POLLERR    0x0008
#define POLLHUP    0x0010
#define POLLRDNORM 0x0040
#define POLLWRNORM 0x0100

struct file;
struct files;

/*
 * The argument of a poll operation: the caller that wants wake-ups. add() puts the caller's waiter
 * on a queue, and may be called for several queues; pt == 0 asks for the present bits only. Each
 * user has its own add: opt/poll/poll.c, and opt/watch for epoll and kqueue.
 */
struct poll_table {
    void (*add)(struct poll_table *pt, struct waitq *queue);
    bool failed; /* no memory for a waiter */
};

static inline void poll_wait(struct poll_table *pt, struct waitq *queue)
{
    if (pt && pt->add)
        pt->add(pt, queue);
}

/* opt/watch: the watchers of a file, which may end. */
/* file_put's part. */
OPTIONAL(CONFIG_WATCH, void, watch_release, (struct file *file))
/* close(2)'s part. */
OPTIONAL(CONFIG_WATCH, void, watch_fd_closed,
         (struct file *file, const struct files *table, int fd))

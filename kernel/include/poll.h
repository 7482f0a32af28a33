/*
 * poll.h: readiness. A thing that can become ready owns a struct waitq (wait.h); whoever waits for
 * readiness - a blocked read, ppoll, pselect6, epoll, kqueue - hangs a struct waiter on it.
 *
 *     driver:  u32 drv_poll(f, pt) { poll_wait(pt, &dev->waitq); return ready bits; }
 *              ... state changes ...  wake_up_events(&dev->waitq, POLLIN);
 */
#pragma once

#include "types.h"
#include "wait.h"

#define POLLIN     0x0001
#define POLLPRI    0x0002
#define POLLOUT    0x0004
#define POLLERR    0x0008
#define POLLHUP    0x0010
#define POLLNVAL   0x0020
#define POLLRDNORM 0x0040
#define POLLRDBAND 0x0080
#define POLLWRNORM 0x0100
#define POLLWRBAND 0x0200
#define POLLRDHUP  0x2000

struct file;

/*
 * What a poll operation is given: the one who wants to be told. add() hangs a waiter of its own on
 * the queue; it may be called for several queues, and with pt == 0 not at all (only the bits of
 * this moment are wanted). ppoll.c, epoll.c and kqueue.c each have their own add.
 */
struct poll_table {
    void (*add)(struct poll_table *pt, struct waitq *queue);
};

static inline void poll_wait(struct poll_table *pt, struct waitq *queue)
{
    if (pt && pt->add)
        pt->add(pt, queue);
}

u32 file_poll(struct file *file, struct poll_table *pt); /* POLLIN | POLLOUT without an operation */

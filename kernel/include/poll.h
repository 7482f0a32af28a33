/*
 * poll.h: readiness. A thing that can become ready owns a struct pollq; everything that waits for
 * readiness (ppoll, pselect6, epoll, kqueue) hangs a struct poll_entry on it.
 *
 *     driver:  u32 drv_poll(f, pt) { poll_wait(pt, &dev->pollq); return ready bits; }
 *              ... state changes ...  pollq_wake(&dev->pollq, POLLIN);
 *
 * pollq_wake may be called from interrupts; an entry's wake function runs with the queue's lock
 * held and interrupts off, so it only sets a flag, wakes a sleeper or queues a task.
 */
#pragma once

#include "types.h"
#include "spinlock.h"

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

struct poll_entry;

struct pollq {
    struct spinlock lock;
    struct poll_entry *head; /* (lock) */
};

#define POLLQ_INIT(name) {SPINLOCK_INIT(name), 0}

struct poll_entry {
    struct poll_entry *next, **prevp; /* (queue's lock) prevp is 0 when not queued */
    struct pollq *queue;
    void (*wake)(struct poll_entry *entry, u32 events);
    void *priv;
};

/* What poll() is given: who wants to be told. pt == 0: only asks for the bits of this moment. */
struct poll_table {
    void (*queue)(struct poll_table *pt, struct pollq *q);
};

void pollq_init(struct pollq *q);
void pollq_wake(struct pollq *q, u32 events); /* any context */
void pollq_add(struct pollq *q, struct poll_entry *entry);
void pollq_remove(struct poll_entry *entry); /* no-op when not queued */

static inline void poll_wait(struct poll_table *pt, struct pollq *q)
{
    if (pt)
        pt->queue(pt, q);
}

struct file;
u32 file_poll(struct file *file, struct poll_table *pt); /* POLLIN | POLLOUT without an op */

/* kqueue.h: shared by the queue (kqueue.c) and the filters (kqueue_filters.c). */
#pragma once

#include "abi/event.h"
#include "file.h"
#include "fs.h"
#include "opt/watch/watch.h"
#include "proc.h"
#include "taskq.h"
#include "timeout.h"
#include "opt/kqueue/proc_watch.h"

struct kqueue {
    int refs;           /* atomic: its file, and its task while queued */
    struct list knotes; /* (watch_mutex) */
    struct watching watching;
    struct spinlock lock;
    struct list active;        /* (lock) */
    struct waitq wait;         /* callers of kevent */
    struct waitq watchers;     /* poll, epoll, other kqueues */
    struct task task;          /* wakes watchers */
    const struct files *table; /* the table whose descriptors idents are; only compared */
};

struct filter;
struct vnode_watch;

struct knote {
    struct list link;
    struct list active_link; /* (kq->lock) empty if not active */
    struct kqueue *kq;
    const struct filter *filter;
    struct kevent ev; /* ident, filter, flags, udata; fflags and data as last added */
    bool disabled;
    struct watcher w;          /* READ, WRITE, VNODE */
    struct vnode_watch *vnode; /* VNODE */
    struct proc_watch process; /* PROC, SIGNAL */
    struct timeout timer;      /* TIMER */
    u64 period, when;          /* (kq->lock) TIMER: ticks; next expiry */
    u64 fired;                 /* (kq->lock) number of events; USER: 1 once triggered */
    u32 seen;                  /* (kq->lock) NOTE_* bits of events so far */
    i64 value;                 /* (kq->lock) PROC: the exit status */
};

/* The operations of a filter; all but report and attach may be NULL. Under watch_mutex. */
struct filter {
    bool of_file;                                    /* ident is a descriptor */
    unsigned short implied;                          /* EV_* flags that it always has */
    long (*attach)(struct knote *n, struct file *f); /* on failure detach is called as well */
    void (*detach)(struct knote *n);
    void (*touch)(struct knote *n, const struct kevent *ev); /* kevent changes it */
    long (*rearm)(struct knote *n);                          /* kevent adds it again */
    bool (*report)(struct knote *n, struct kevent *out);     /* is its condition true? fills out */
    void (*clear)(struct knote *n);                          /* after a report with EV_CLEAR */
};

const struct filter *filter_of(short number);
void knote_activate(struct knote *n); /* any context */
void knote_free(struct knote *n);

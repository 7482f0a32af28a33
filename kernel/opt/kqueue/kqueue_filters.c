/*
 * kqueue_filters.c: the filters of kqueue. READ and WRITE poll the file, TIMER and USER count,
 * VNODE gets its events from opt/notify, PROC and SIGNAL from proc_watch.c.
 *
 * Not modelled: NOTE_TRACK of PROC (-EINVAL); NOTE_REVOKE of VNODE, as there is no revoke(2).
 */
#include "kqueue.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "opt/notify/watches.h"
#include "opt/poll/wait.h"
#include "period.h"

#define MAX_NESTS 8

/* READ, WRITE */

static u32 wanted_bits(const struct knote *n)
{
    return n->ev.filter == EVFILT_WRITE ? POLLOUT | POLLERR | POLLHUP
                                        : POLLIN | POLLERR | POLLHUP | POLLRDHUP;
}

static void file_wakes(struct watcher *w, u32 events)
{
    struct knote *n = container_of(w, struct knote, w);

    if (!events || events & wanted_bits(n))
        knote_activate(n);
}

static void file_gone(struct watcher *w)
{
    knote_free(container_of(w, struct knote, w));
}

static void fd_closed(struct watcher *w, const struct files *table, int fd)
{
    struct knote *n = container_of(w, struct knote, w);

    if (n->kq->table == table && n->ev.ident == (u64)fd)
        knote_free(n);
}

static long watch_file(struct knote *n, struct file *f, void (*wake)(struct watcher *w, u32 events),
                       u32 *bits)
{
    bool no_memory;

    n->w.wake = wake;
    n->w.gone = file_gone;
    n->w.fd_closed = fd_closed;
    n->w.file = f;
    n->w.by = &n->kq->watching;
    *bits = watcher_begin(&n->w, &no_memory);
    return no_memory ? -ENOMEM : 0;
}

static long file_attach(struct knote *n, struct file *f)
{
    u32 bits;
    long err;

    if (watch_nests_badly(&n->kq->watching, f, MAX_NESTS))
        return -EINVAL;
    err = watch_file(n, f, file_wakes, &bits);
    if (!err && bits & wanted_bits(n))
        knote_activate(n);
    return err;
}

static bool file_report(struct knote *n, struct kevent *out)
{
    u32 bits = file_poll(n->w.file, NULL);

    if (bits & (POLLHUP | (n->ev.filter == EVFILT_READ ? POLLRDHUP : POLLERR)))
        out->flags |= EV_EOF;
    out->data = n->ev.filter == EVFILT_READ && n->w.file->ops->available
                    ? n->w.file->ops->available(n->w.file)
                    : !!(bits & wanted_bits(n));
    return bits & wanted_bits(n);
}

/* TIMER */

/* Afterwards timer_fires() is not running and the timer is not armed. */
static void timer_stop(struct knote *n)
{
    spin_lock(&n->kq->lock);
    n->period = 0;
    spin_unlock(&n->kq->lock);
    timeout_cancel_sync(&n->timer);
}

static void timer_fires(void *arg)
{
    struct knote *n = arg;
    u64 expired = 1;

    spin_lock(&n->kq->lock);
    if (n->period && !(n->ev.flags & EV_ONESHOT)) {
        n->when = timeout_advance(n->when, n->period, &expired);
        timeout_set(&n->timer, n->when);
    }
    n->fired += expired;
    spin_unlock(&n->kq->lock);
    knote_activate(n);
}

static long timer_arm(struct knote *n)
{
    static const u64 ns[] = {1000000, 1000000000, 1000, 1};
    i64 amount = n->ev.data;

    if (amount < 0 || amount > 1L << 32)
        return -EINVAL;
    timer_stop(n);
    n->period = MAX(ns_to_ticks(amount * ns[n->ev.fflags & 3]), 1);
    n->fired = 0;
    n->when = time_now() + n->period;
    timeout_set(&n->timer, n->when);
    return 0;
}

static long timer_attach(struct knote *n, struct file *f)
{
    timeout_init_entry(&n->timer, TIMEOUT_IRQ, timer_fires, n);
    n->ev.flags |= EV_CLEAR;
    return timer_arm(n);
}

static bool count_report(struct knote *n, struct kevent *out)
{
    out->flags &= ~(n->filter->implied);
    out->data = (i64)n->fired;
    return n->fired;
}

static void count_clear(struct knote *n)
{
    spin_lock(&n->kq->lock);
    n->fired = 0;
    n->seen = 0;
    spin_unlock(&n->kq->lock);
}

/* USER */

/* NOTE_FFAND, NOTE_FFOR, NOTE_FFCOPY and NOTE_TRIGGER. */
static void user_touch(struct knote *n, const struct kevent *ev)
{
    u32 bits = ev->fflags & NOTE_FFLAGSMASK;

    switch (ev->fflags & NOTE_FFCTRLMASK) {
    case NOTE_FFAND:
        n->seen &= bits;
        break;
    case NOTE_FFOR:
        n->seen |= bits;
        break;
    case NOTE_FFCOPY:
        n->seen = bits;
        break;
    }
    if (ev->fflags & NOTE_TRIGGER) {
        n->fired = 1;
        knote_activate(n);
    }
}

static long user_attach(struct knote *n, struct file *f)
{
    user_touch(n, &n->ev);
    return 0;
}

static bool user_report(struct knote *n, struct kevent *out)
{
    out->fflags = n->seen;
    out->data = 0;
    return n->fired;
}

static void user_clear(struct knote *n)
{
    n->fired = 0;
}

/* VNODE: the watch is allocated apart from its knote, because notify.c frees it later. */

struct vnode_watch {
    struct inode_watch w;
    struct knote *n; /* (notify_lock) NULL after the end of the knote */
};

static const struct {
    u32 event, note;
} vnode_notes[] = {
    {NOTIFY_DELETE_SELF, NOTE_DELETE},
    {NOTIFY_MODIFY, NOTE_WRITE},
    {NOTIFY_CREATE | NOTIFY_DELETE | NOTIFY_MOVED_FROM | NOTIFY_MOVED_TO, NOTE_WRITE},
    {NOTIFY_EXTEND, NOTE_EXTEND},
    {NOTIFY_TRUNCATE, NOTE_TRUNCATE},
    {NOTIFY_ATTRIB, NOTE_ATTRIB},
    {NOTIFY_LINK, NOTE_LINK},
    {NOTIFY_MOVE_SELF, NOTE_RENAME},
};

/* The NOTE_* bits of an event: about the inode itself, or (with a name) an entry of a directory. */
static u32 notes_of(u32 mask, const char *name)
{
    u32 notes = 0, entries = NOTIFY_CREATE | NOTIFY_DELETE | NOTIFY_MOVED_FROM | NOTIFY_MOVED_TO;

    if (name) /* making or removing a directory changes the link count of its parent */
        mask = (mask & entries) |
               (mask & (NOTIFY_CREATE | NOTIFY_DELETE) && mask & NOTIFY_ISDIR ? NOTIFY_LINK : 0);
    else if (mask & NOTIFY_LINK)
        mask &= ~NOTIFY_ATTRIB;
    for (u32 i = 0; i < ARRAY_LEN(vnode_notes); i++)
        if (mask & vnode_notes[i].event)
            notes |= vnode_notes[i].note;
    return notes;
}

static void happened(struct knote *n, u32 notes)
{
    notes &= n->ev.fflags;
    if (!notes)
        return;
    spin_lock(&n->kq->lock);
    n->seen |= notes;
    spin_unlock(&n->kq->lock);
    knote_activate(n);
}

static void vnode_event(struct inode_watch *w, u32 mask, u32 cookie, const char *name)
{
    struct knote *n = container_of(w, struct vnode_watch, w)->n;

    if (n)
        happened(n, notes_of(mask, name));
}

static void vnode_dead(struct inode_watch *w)
{
    kfree(container_of(w, struct vnode_watch, w));
}

static void nothing_wakes(struct watcher *w, u32 events) {}

static long vnode_attach(struct knote *n, struct file *f)
{
    struct vnode_watch *v;
    u32 bits;

    if (!f->mnt)
        return -EINVAL;
    v = kzalloc(sizeof(*v));
    if (!v)
        return -ENOMEM;
    v->n = n;
    v->w.event = vnode_event;
    v->w.dead = vnode_dead;
    n->vnode = v;
    mutex_lock(&notify_lock);
    notify_watch(&v->w, &(struct path){f->mnt, f->inode});
    mutex_unlock(&notify_lock);
    return watch_file(n, f, nothing_wakes, &bits);
}

static void vnode_detach(struct knote *n)
{
    if (!n->vnode)
        return;
    mutex_lock(&notify_lock);
    n->vnode->n = NULL;
    notify_unwatch(&n->vnode->w);
    mutex_unlock(&notify_lock);
    notify_collect();
}

static bool seen_report(struct knote *n, struct kevent *out)
{
    out->fflags = n->seen;
    out->data = n->value;
    if (n->seen & NOTE_EXIT && n->ev.filter == EVFILT_PROC) {
        out->flags |= EV_EOF;
        n->ev.flags |= EV_ONESHOT; /* no further event is possible */
    }
    return n->seen;
}

/* PROC, SIGNAL */

static void process_event(struct proc_watch *w, enum proc_event what, i64 data)
{
    struct knote *n = container_of(w, struct knote, process);

    if (n->ev.filter == EVFILT_SIGNAL) {
        if (what != PROC_SIGNALLED || (u64)data != n->ev.ident)
            return;
        spin_lock(&n->kq->lock);
        n->fired++;
        spin_unlock(&n->kq->lock);
        knote_activate(n);
        return;
    }
    if (what == PROC_EXITED)
        n->value = data;
    happened(n, what == PROC_EXITED     ? NOTE_EXIT
                : what == PROC_FORKED   ? NOTE_FORK
                : what == PROC_EXECUTED ? NOTE_EXEC
                                        : 0);
}

static long process_attach(struct knote *n, struct file *f)
{
    if (n->ev.fflags & ~(NOTE_EXIT | NOTE_FORK | NOTE_EXEC))
        return -EINVAL;
    n->ev.flags |= EV_CLEAR;
    n->process.event = process_event;
    return proc_watch(&n->process, (int)n->ev.ident);
}

static long signal_attach(struct knote *n, struct file *f)
{
    if (n->ev.ident < 1 || n->ev.ident > NSIG)
        return -EINVAL;
    n->ev.flags |= EV_CLEAR;
    n->process.event = process_event;
    return proc_watch(&n->process, curproc->pid);
}

static void process_detach(struct knote *n)
{
    proc_unwatch(&n->process);
}

static const struct filter file_filter = {
    .of_file = true, .attach = file_attach, .report = file_report};

static const struct filter timer_filter = {
    .implied = EV_CLEAR,
    .attach = timer_attach,
    .detach = timer_stop,
    .rearm = timer_arm,
    .report = count_report,
    .clear = count_clear,
};

static const struct filter user_filter = {
    .attach = user_attach, .touch = user_touch, .report = user_report, .clear = user_clear};

static const struct filter vnode_filter = {
    .of_file = true,
    .attach = vnode_attach,
    .detach = vnode_detach,
    .report = seen_report,
    .clear = count_clear,
};

static const struct filter process_filter = {
    .implied = EV_CLEAR,
    .attach = process_attach,
    .detach = process_detach,
    .report = seen_report,
    .clear = count_clear,
};

static const struct filter signal_filter = {
    .implied = EV_CLEAR,
    .attach = signal_attach,
    .detach = process_detach,
    .report = count_report,
    .clear = count_clear,
};

const struct filter *filter_of(short number)
{
    switch (number) {
    case EVFILT_READ:
    case EVFILT_WRITE:
        return &file_filter;
    case EVFILT_VNODE:
        return &vnode_filter;
    case EVFILT_PROC:
        return &process_filter;
    case EVFILT_SIGNAL:
        return &signal_filter;
    case EVFILT_TIMER:
        return &timer_filter;
    case EVFILT_USER:
        return &user_filter;
    default:
        return NULL;
    }
}

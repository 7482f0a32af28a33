/*
 * kqueue.c: kqueue and kevent of the BSDs, as two private system calls; programs call them through
 * guest-programs/include/bsd/event.h. kqueue_filters.c has the filters.
 *
 * A knote is one registration (ident, filter). An event (a wake-up of its file, a timer, a trigger,
 * an event of an inode or a process) activates it: it joins the queue's active list. kevent() asks
 * the filters of the knotes on that list whether their conditions hold, and reports those that do.
 * Level-triggered knotes stay on the list while their condition holds.
 *
 * On OpenBSD a kqueue that is itself watched (by another kqueue, poll, epoll) wakes its watchers
 * from a task, not from the wake-up itself. OpenBSD does this to keep nested queues from recursing;
 * it makes such a wake-up visible in the remote coverage of the process that caused it.
 *
 * Locks: watch_mutex for registrations, kq->lock (spin) for the active list. A kqueue is counted by
 * its file and by its queued task. fork does not copy its descriptors, and sockets do not pass
 * them; a registration ends when its descriptor is closed.
 */
#include "kqueue.h"
#include "abi/errno.h"
#include "abi/event.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "syscall.h"
#include "taskq.h"
#include "timeout.h"
#include "vm.h"
#include "opt/poll/wait.h"

static void kqueue_unref(struct kqueue *kq)
{
    if (atomic_sub(&kq->refs, 1) == 0)
        kfree(kq);
}

/* Runs in a kernel thread, on behalf of the process that activated the knote. */
static void wake_watchers(void *arg)
{
    struct kqueue *kq = arg;

    wake_up_events(&kq->watchers, POLLIN | POLLRDNORM);
    kqueue_unref(kq);
}

static void kqueue_wakeup(struct kqueue *kq)
{
    wake_up(&kq->wait);
    if (list_empty(&kq->watchers.waiters))
        return;
#ifdef CONFIG_PERSONALITY_OPENBSD
    atomic_add(&kq->refs, 1);
    if (!task_add(system_taskq, &kq->task))
        kqueue_unref(kq);
#else
    wake_up_events(&kq->watchers, POLLIN | POLLRDNORM);
#endif
}

/* Any context. */
void knote_activate(struct knote *n)
{
    struct kqueue *kq = n->kq;

    spin_lock(&kq->lock);
    if (list_empty(&n->active_link))
        list_push_back(&kq->active, &n->active_link);
    spin_unlock(&kq->lock);
    if (!n->disabled)
        kqueue_wakeup(kq);
}

static void deactivate(struct knote *n)
{
    struct kqueue *kq = n->kq;

    spin_lock(&kq->lock);
    list_remove(&n->active_link);
    spin_unlock(&kq->lock);
}

void knote_free(struct knote *n)
{
    if (n->filter->detach)
        n->filter->detach(n);
    if (n->w.file)
        watcher_end(&n->w);
    deactivate(n);
    list_remove(&n->link);
    kfree(n);
}

static struct knote *find(struct kqueue *kq, const struct kevent *ev)
{
    list_for_each(n, &kq->knotes, struct knote, link)
        if (n->ev.ident == ev->ident && n->ev.filter == ev->filter)
            return n;
    return NULL;
}

static long add_new(struct kqueue *kq, const struct kevent *ev, struct file *f)
{
    const struct filter *filter = filter_of(ev->filter);
    struct knote *n;
    long err;

    n = kzalloc(sizeof(*n));
    if (!n)
        return -ENOMEM;
    n->kq = kq;
    n->ev = *ev;
    n->filter = filter;
    n->disabled = ev->flags & EV_DISABLE;
    list_init(&n->active_link);
    list_push_back(&kq->knotes, &n->link);
    err = filter->attach(n, f);
    if (err)
        knote_free(n);
    return err;
}

static long modify(struct knote *n, const struct kevent *ev)
{
    if (n->filter->touch)
        n->filter->touch(n, ev);
    if (ev->flags & EV_ADD) {
        n->ev.fflags = ev->fflags;
        n->ev.data = ev->data;
        n->ev.udata = ev->udata;
        n->ev.flags = ev->flags | n->filter->implied;
        if (n->filter->rearm)
            return n->filter->rearm(n);
    }
    if (ev->flags & EV_DISABLE)
        n->disabled = true;
    if (ev->flags & EV_ENABLE)
        n->disabled = false;
    if (!n->disabled) /* events may have occurred while it was disabled */
        knote_activate(n);
    return 0;
}

/* One entry of the change list. Needs watch_mutex; f is the file of ident for READ and WRITE. */
static long apply(struct kqueue *kq, const struct kevent *ev, struct file *f)
{
    struct knote *n = find(kq, ev);

    if (!n)
        return ev->flags & EV_ADD ? add_new(kq, ev, f) : -ENOENT;
    if (ev->flags & EV_DELETE) {
        knote_free(n);
        return 0;
    }
    return modify(n, ev);
}

static long change(struct kqueue *kq, const struct kevent *ev)
{
    const struct filter *filter = filter_of(ev->filter);
    bool of_file = filter && filter->of_file;
    struct file *f = of_file ? fd_get((int)ev->ident) : NULL;
    long err;

    if (!filter)
        return -EINVAL;

    if (of_file && (!f || ev->ident > 0x7fffffff)) {
        file_put(f);
        return -EBADF;
    }
    mutex_lock(&watch_mutex);
    err = apply(kq, ev, f);
    mutex_unlock(&watch_mutex);
    file_put(f);
    return err;
}

/* True if the knote's condition holds now; fills in the event for kevent. Needs watch_mutex. */
static bool report(struct knote *n, struct kevent *out)
{
    *out = n->ev;
    out->flags &= EV_ONESHOT | EV_CLEAR | EV_DISPATCH;
    out->fflags = 0;
    return n->filter->report(n, out);
}

/* Applies the flags of a knote that was reported. True if it stays active. */
static bool after_report(struct knote *n)
{
    if (n->ev.flags & EV_ONESHOT) {
        knote_free(n);
        return false;
    }
    if (n->ev.flags & EV_CLEAR && n->filter->clear)
        n->filter->clear(n);
    if (n->ev.flags & EV_DISPATCH)
        n->disabled = true;
    return !(n->ev.flags & (EV_CLEAR | EV_DISPATCH));
}

static struct knote *pop_active(struct kqueue *kq)
{
    struct knote *n = NULL;

    spin_lock(&kq->lock);
    if (!list_empty(&kq->active)) {
        n = list_first(&kq->active, struct knote, active_link);
        list_remove(&n->active_link);
    }
    spin_unlock(&kq->lock);
    return n;
}

/* Needs watch_mutex. out == NULL: only counts, up to max, and changes nothing. */
static u32 harvest(struct kqueue *kq, struct kevent *out, u32 max)
{
    struct list again = LIST_INIT(again);
    struct kevent ignored;
    struct knote *n;
    u32 count = 0;

    while (count < max && (n = pop_active(kq))) {
        if (n->disabled) /* enabling activates it again */
            continue;
        if (!report(n, out ? &out[count] : &ignored))
            continue;
        count++;
        if (out && !after_report(n))
            continue;
        spin_lock(&kq->lock);
        if (list_empty(&n->active_link))
            list_push_back(&again, &n->active_link);
        spin_unlock(&kq->lock);
    }
    spin_lock(&kq->lock);
    while (!list_empty(&again)) {
        struct list *link = again.next;

        list_remove(link);
        list_push_back(&kq->active, link);
    }
    spin_unlock(&kq->lock);
    return count;
}

static u32 kqueue_poll(struct file *file, struct poll_table *pt)
{
    struct kqueue *kq = file->priv;
    bool nested = mutex_held(&watch_mutex);
    u32 bits;

    poll_wait(pt, &kq->watchers);
    if (!nested)
        mutex_lock(&watch_mutex);
    bits = harvest(kq, NULL, 1) ? POLLIN | POLLRDNORM : 0;
    if (!nested)
        mutex_unlock(&watch_mutex);
    return bits;
}

static i64 kqueue_available(struct file *file)
{
    struct kqueue *kq = file->priv;
    i64 count = 0;

    spin_lock(&kq->lock);
    for (struct list *l = kq->active.next; l != &kq->active; l = l->next)
        count++;
    spin_unlock(&kq->lock);
    return count;
}

static void kqueue_release(struct file *file)
{
    struct kqueue *kq = file->priv;

    mutex_lock(&watch_mutex);
    while (!list_empty(&kq->knotes))
        knote_free(list_first(&kq->knotes, struct knote, link));
    mutex_unlock(&watch_mutex);
    if (task_del(&kq->task))
        kqueue_unref(kq);
    kqueue_unref(kq);
}

static struct watching *kqueue_watching(struct file *file)
{
    struct kqueue *kq = file->priv;

    return &kq->watching;
}

static const struct file_ops kqueue_fops = {
    .poll = kqueue_poll,
    .available = kqueue_available,
    .release = kqueue_release,
    .watching = kqueue_watching,
};

long sys_kqueue1(u64 flags)
{
    struct kqueue *kq;
    struct file *f;

    if (flags & ~(u64)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    kq = kzalloc(sizeof(*kq));
    if (!kq)
        return -ENOMEM;
    kq->refs = 1;
    kq->table = curproc->files;
    list_init(&kq->knotes);
    list_init(&kq->watching.watchers);
    list_init(&kq->active);
    spin_init(&kq->lock, "kqueue");
    waitq_init(&kq->wait);
    waitq_init(&kq->watchers);
    task_init(&kq->task, wake_watchers, kq);
    f = file_anon("kqueue", 0600, &kqueue_fops, kq, O_RDWR);
    if (!f) {
        kfree(kq);
        return -ENOMEM;
    }
    kq->watching.file = f;
    f->fflags |= FF_NO_PASS | FF_NOT_INHERITED;
    return fd_install(f, (u32)flags);
}

/* The caller's array of results: n of max entries are filled. */
struct kevent_out {
    u64 addr;
    u32 n, max;
};

static long put_event(struct kevent_out *out, const struct kevent *ev)
{
    if (copyout(out->addr + out->n * sizeof(*ev), ev, sizeof(*ev)))
        return -EFAULT;
    out->n++;
    return 0;
}

/* An error becomes an EV_ERROR event; without a free entry it is the result of the call. */
static long apply_changes(struct kqueue *kq, u64 changes, u32 n, struct kevent_out *out)
{
    for (u32 i = 0; i < n; i++) {
        struct kevent ev;
        long err, put = 0;

        if (copyin(&ev, changes + i * sizeof(ev), sizeof(ev)))
            return -EFAULT;
        err = change(kq, &ev);
        if (!err && !(ev.flags & EV_RECEIPT))
            continue;
        if (out->n >= out->max)
            return err;
        ev.flags = EV_ERROR;
        ev.data = -err;
        put = put_event(out, &ev);
        if (put)
            return put;
    }
    return 0;
}

static long collect(struct kqueue *kq, struct kevent_out *out, u64 deadline)
{
    struct kevent batch[8];
    long err = 0;

    for (;;) {
        u32 n;

        mutex_lock(&watch_mutex);
        n = harvest(kq, batch, MIN(out->max - out->n, ARRAY_LEN(batch)));
        mutex_unlock(&watch_mutex);
        for (u32 i = 0; i < n && !err; i++)
            err = put_event(out, &batch[i]);
        if (err)
            return err;
        if (out->n || err)
            return 0;
        if (deadline <= time_now())
            return 0;
        err = wait_event_timeout(&kq->wait, !list_empty(&kq->active), deadline);
        if (err)
            return err == -ETIMEDOUT ? 0 : -EINTR;
    }
}

long sys_kevent(u64 fd, u64 changes, u64 nchanges, u64 events, u64 nevents, u64 timeout)
{
    struct kevent_out out = {.addr = events, .max = (u32)nevents};
    struct file *f;
    u64 deadline;
    long err = deadline_from_user(timeout, &deadline);

    if (err)
        return err;
    if ((i32)nchanges < 0 || (i32)nevents < 0)
        return -EINVAL;
    f = fd_get((int)fd);
    if (!f)
        return -EBADF;
    if (f->ops != &kqueue_fops) {
        file_put(f);
        return -EBADF;
    }
    err = apply_changes(f->priv, changes, (u32)nchanges, &out);
    if (!err && !out.n && out.max)
        err = collect(f->priv, &out, deadline);
    file_put(f);
    return err ? err : (long)out.n;
}

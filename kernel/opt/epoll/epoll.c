/*
 * epoll.c: epoll(7). An epoll file holds items, one per watched (file, descriptor number); an item
 * has a waiter on each wait queue of its file, and a wake-up there puts it on the ready list.
 * epoll_wait polls the files on that list, so a stale entry costs one poll and never gives a wrong
 * result. Level-triggered items that were ready go back on the list, edge-triggered ones wait for
 * the next wake-up, one-shot ones are disabled.
 *
 * Locks: watch_mutex for items and files; ep->lock (spin) for the ready list, also in interrupts.
 * An item ends with its file's last reference, by EPOLL_CTL_DEL, or with its epoll file.
 *
 * Not modelled: EPOLLEXCLUSIVE and EPOLLWAKEUP are accepted and have no effect.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "opt/watch/watch.h"
#include "proc.h"
#include "signal.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"
#include "opt/poll/wait.h"

#define EPOLL_CTL_ADD 1
#define EPOLL_CTL_DEL 2
#define EPOLL_CTL_MOD 3

#define EPOLLONESHOT (1u << 30)
#define EPOLLET      (1u << 31)
#define EPOLL_FLAGS  0xf0000000u /* not events */

#define MAX_NESTS 4 /* as Linux has it */
#define BATCH     64

struct epoll_event { /* ABI: 16 bytes on riscv64 */
    u32 events, pad;
    u64 data;
};

struct epoll {
    struct watching items; /* an item by its watcher */
    struct spinlock lock;  /* ready lists */
    struct list ready;     /* (lock) */
    struct waitq wait;     /* epoll_wait */
};

struct item {
    struct list ready_link; /* (ep->lock) empty when not ready */
    struct watcher w;       /* w.file is not counted: w.gone() is called when it is closed */
    struct epoll *ep;
    int fd;
    u32 events;
    u64 data;
};

static const struct file_ops epoll_fops;

static void mark_ready(struct item *item)
{
    struct epoll *ep = item->ep;

    spin_lock(&ep->lock);
    if (list_empty(&item->ready_link))
        list_push_back(&ep->ready, &item->ready_link);
    spin_unlock(&ep->lock);
}

/* Called from the file's wait queue, in any context. */
static void item_wake(struct watcher *w, u32 events)
{
    struct item *item = container_of(w, struct item, w);

    if (events && !(events & item->events))
        return;
    mark_ready(item);
    wake_up_events(&item->ep->wait, POLLIN | POLLRDNORM);
}

static void item_free(struct item *item)
{
    watcher_end(&item->w);
    spin_lock(&item->ep->lock);
    list_remove(&item->ready_link);
    spin_unlock(&item->ep->lock);
    kfree(item);
}

static void item_file_gone(struct watcher *w)
{
    item_free(container_of(w, struct item, w));
}

/* The requested events that the item's file has now; none for a disabled one-shot. */
static u32 item_bits(struct item *item)
{
    return file_poll(item->w.file, NULL) & item->events & ~EPOLL_FLAGS;
}

static long item_new(struct epoll *ep, struct file *file, int fd, const struct epoll_event *ev)
{
    struct item *item = kzalloc(sizeof(*item));
    bool no_memory;

    if (!item)
        return -ENOMEM;
    item->ep = ep;
    item->w.file = file;
    item->w.by = &ep->items;
    item->w.wake = item_wake;
    item->w.gone = item_file_gone;
    item->fd = fd;
    item->events = ev->events | POLLERR | POLLHUP;
    item->data = ev->data;
    list_init(&item->ready_link);
    if (watcher_begin(&item->w, &no_memory) & item->events) {
        mark_ready(item);
        wake_up_events(&ep->wait, POLLIN | POLLRDNORM);
    }
    if (no_memory)
        item_free(item);
    return no_memory ? -ENOMEM : 0;
}

static struct item *find_item(struct epoll *ep, struct file *file, int fd)
{
    list_for_each(item, &ep->items.watchers, struct item, w.by_link)
        if (item->w.file == file && item->fd == fd)
            return item;
    return NULL;
}

static long control(struct epoll *ep, int op, struct file *file, int fd,
                    const struct epoll_event *ev)
{
    struct item *item = find_item(ep, file, fd);
    bool loop;

    switch (op) {
    case EPOLL_CTL_ADD:
        if (item)
            return -EEXIST;
        loop = watch_nests_badly(&ep->items, file, MAX_NESTS);
        BUG_NOTE(epoll_loop, loop);
        return !BUG(epoll_loop) && loop ? -ELOOP : item_new(ep, file, fd, ev);
    case EPOLL_CTL_DEL:
        if (!item)
            return -ENOENT;
        item_free(item);
        return 0;
    case EPOLL_CTL_MOD:
        if (!item)
            return -ENOENT;
        item->events = ev->events | POLLERR | POLLHUP;
        item->data = ev->data;
        if (item_bits(item)) {
            mark_ready(item);
            wake_up_events(&ep->wait, POLLIN | POLLRDNORM);
        }
        return 0;
    default:
        return -EINVAL;
    }
}

long sys_epoll_ctl(u64 epfd, u64 op, u64 fd, u64 event)
{
    struct file *ep_file, *file;
    struct epoll_event ev = {0};
    long err;

    if ((int)op != EPOLL_CTL_DEL && get_user(ev, event))
        return -EFAULT;
    ep_file = fd_get((int)epfd);
    file = fd_get((int)fd);
    if (!ep_file || !file) {
        err = -EBADF;
    } else if (ep_file->ops != &epoll_fops || file == ep_file) {
        err = -EINVAL;
    } else if (!file->ops->poll) {
        err = -EPERM; /* regular files and directories */
    } else {
        mutex_lock(&watch_mutex);
        err = control(ep_file->priv, (int)op, file, (int)fd, &ev);
        mutex_unlock(&watch_mutex);
    }
    file_put(ep_file);
    file_put(file);
    return err;
}

static struct item *pop_ready(struct epoll *ep)
{
    struct item *item = NULL;

    spin_lock(&ep->lock);
    if (!list_empty(&ep->ready)) {
        item = list_first(&ep->ready, struct item, ready_link);
        list_remove(&item->ready_link);
    }
    spin_unlock(&ep->lock);
    return item;
}

/* Needs watch_mutex. Fills at most max events. out == NULL: only counts, and all stay ready. */
static u32 harvest(struct epoll *ep, struct epoll_event *out, u32 max)
{
    struct list again = LIST_INIT(again);
    struct item *item;
    u32 n = 0;

    while (n < max && (item = pop_ready(ep))) {
        u32 bits = item_bits(item);

        if (!bits)
            continue;
        if (out) {
            out[n] = (struct epoll_event){.events = bits, .data = item->data};
            if (item->events & EPOLLONESHOT)
                item->events &= EPOLL_FLAGS;
        }
        n++;
        if (!out || !(item->events & (EPOLLET | EPOLLONESHOT))) {
            spin_lock(&ep->lock);
            if (list_empty(&item->ready_link))
                list_push_back(&again, &item->ready_link);
            spin_unlock(&ep->lock);
        }
    }
    spin_lock(&ep->lock);
    while (!list_empty(&again)) {
        struct list *link = again.next;

        list_remove(link);
        list_push_back(&ep->ready, link);
    }
    spin_unlock(&ep->lock);
    return n;
}

static u32 epoll_poll(struct file *file, struct poll_table *pt)
{
    struct epoll *ep = file->priv;
    bool nested = mutex_held(&watch_mutex); /* an epoll in an epoll */
    u32 bits;

    poll_wait(pt, &ep->wait);
    if (!nested)
        mutex_lock(&watch_mutex);
    bits = harvest(ep, NULL, 1) ? POLLIN | POLLRDNORM : 0;
    if (!nested)
        mutex_unlock(&watch_mutex);
    return bits;
}

static void epoll_release(struct file *file)
{
    struct epoll *ep = file->priv;

    mutex_lock(&watch_mutex);
    while (!list_empty(&ep->items.watchers))
        item_free(list_first(&ep->items.watchers, struct item, w.by_link));
    mutex_unlock(&watch_mutex);
    kfree(ep);
}

static struct watching *epoll_watching(struct file *file)
{
    struct epoll *ep = file->priv;

    return &ep->items;
}

static const struct file_ops epoll_fops = {
    .release = epoll_release,
    .poll = epoll_poll,
    .watching = epoll_watching,
};

long sys_epoll_create1(u64 flags)
{
    struct epoll *ep;
    struct file *f;

    if (flags & ~(u64)O_CLOEXEC)
        return -EINVAL;
    ep = kzalloc(sizeof(*ep));
    if (!ep)
        return -ENOMEM;
    list_init(&ep->items.watchers);
    list_init(&ep->ready);
    spin_init(&ep->lock, "epoll");
    waitq_init(&ep->wait);
    f = file_anon("anon_inode:[eventpoll]", 0600, &epoll_fops, ep, O_RDWR);
    if (!f) {
        kfree(ep);
        return -ENOMEM;
    }
    ep->items.file = f;
    return fd_install(f, (u32)flags);
}

static bool maybe_ready(struct epoll *ep)
{
    return !list_empty(&ep->ready);
}

static long wait_events(struct epoll *ep, u64 events, u32 max, u64 deadline)
{
    struct epoll_event *out = kmalloc(MIN(max, BATCH) * sizeof(*out));
    long n = out ? 0 : -ENOMEM, err = 0;

    while (!n && !err) {
        mutex_lock(&watch_mutex);
        n = harvest(ep, out, MIN(max, BATCH));
        mutex_unlock(&watch_mutex);
        if (!n)
            err = deadline <= time_now() ? -ETIMEDOUT
                                         : wait_event_timeout(&ep->wait, maybe_ready(ep), deadline);
    }
    if (n > 0 && copyout(events, out, n * sizeof(*out)))
        n = -EFAULT;
    kfree(out);
    return n ? n : err == -ETIMEDOUT ? 0 : err;
}

static long epoll_wait_masked(u64 epfd, u64 events, u64 max, u64 deadline, u64 mask_addr,
                              u64 mask_size)
{
    struct file *f;
    u64 mask = 0;
    long n = sigset_from_user(mask_addr, mask_size, &mask);

    if (n)
        return n;
    if ((i32)max <= 0)
        return -EINVAL;
    f = fd_get((int)epfd);
    if (!f)
        return -EBADF;
    if (mask_addr)
        signal_mask_begin(mask);
    n = f->ops == &epoll_fops ? wait_events(f->priv, events, (u32)max, deadline) : -EINVAL;
    file_put(f);
    if (n == -ERESTARTSYS)
        return -EINTR; /* epoll_wait is never restarted */
    if (mask_addr)
        signal_mask_end();
    return n;
}

long sys_epoll_pwait(u64 epfd, u64 events, u64 max, u64 timeout_ms, u64 mask_addr, u64 mask_size)
{
    u64 deadline = WAIT_FOREVER;

    if ((i32)timeout_ms >= 0)
        deadline = time_now() + (u32)timeout_ms * (TICKS_PER_SEC / 1000);
    return epoll_wait_masked(epfd, events, max, deadline, mask_addr, mask_size);
}

long sys_epoll_pwait2(u64 epfd, u64 events, u64 max, u64 timeout, u64 mask_addr, u64 mask_size)
{
    u64 deadline;
    long err = deadline_from_user(timeout, &deadline);

    return err ? err : epoll_wait_masked(epfd, events, max, deadline, mask_addr, mask_size);
}

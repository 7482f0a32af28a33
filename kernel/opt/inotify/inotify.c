/*
 * inotify.c: inotify(7). An instance is a file with a queue of events and a set of watches, one per
 * inode; notify.c calls each watch with its events.
 *
 * notify_lock protects the watches, the instance's spinlock the queue. A watch that ends (by
 * inotify_rm_watch, with its inode's last link, after IN_ONESHOT) queues IN_IGNORED.
 *
 * Divergences: a watched file system cannot be unmounted (Linux sends IN_UNMOUNT); IN_DELETE_SELF
 * comes with the last link, even if the file is still open.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "opt/notify/watches.h"
#include "fs/open.h"
#include "poll.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define IN_Q_OVERFLOW  0x00004000u
#define IN_IGNORED     0x00008000u
#define IN_ONLYDIR     0x01000000u
#define IN_DONT_FOLLOW 0x02000000u
#define IN_EXCL_UNLINK 0x04000000u
#define IN_MASK_CREATE 0x10000000u
#define IN_MASK_ADD    0x20000000u
#define IN_ONESHOT     0x80000000u

#define EVENTS_MAX 16384
#define FIONREAD   0x541b

struct inotify_event { /* ABI; the name follows, padded with NULs */
    i32 wd;
    u32 mask, cookie, len;
};

struct event {
    struct list link;
    struct inotify_event head;
    char name[];
};

struct instance {
    struct list watches; /* (notify_lock) */
    int last_wd;         /* (notify_lock) */
    struct spinlock lock;
    struct list events; /* (lock) oldest first */
    u32 count;          /* (lock) */
    u64 bytes;          /* (lock) size of the events, for FIONREAD */
    struct waitq wait;
};

struct watch {
    struct inode_watch w;
    struct list link; /* in the instance */
    struct instance *in;
    int wd;
    u32 mask;
};

static const struct file_ops inotify_fops;

static struct event *event_new(int wd, u32 mask, u32 cookie, const char *name)
{
    u32 len = name ? ALIGN_UP(strlen(name) + 1, sizeof(struct inotify_event)) : 0;
    struct event *e = kzalloc(sizeof(*e) + len);

    if (!e)
        return NULL;
    e->head = (struct inotify_event){wd, mask, cookie, len};
    if (name)
        strlcpy(e->name, name, len);
    return e;
}

/* Needs in->lock. True if e equals the last event, and so is left out. */
static bool repeats_last(struct instance *in, const struct event *e)
{
    const struct event *last;

    if (list_empty(&in->events))
        return false;
    last = list_entry(in->events.prev, struct event, link);
    return !memcmp(&last->head, &e->head, sizeof(e->head)) &&
           (!e->head.len || !strcmp(last->name, e->name));
}

static void queue_event(struct instance *in, int wd, u32 mask, u32 cookie, const char *name)
{
    struct event *e = in->count < EVENTS_MAX ? event_new(wd, mask, cookie, name)
                                             : event_new(-1, IN_Q_OVERFLOW, 0, NULL);

    if (!e)
        return;
    spin_lock(&in->lock);
    if (repeats_last(in, e)) {
        kfree(e);
    } else {
        list_push_back(&in->events, &e->link);
        in->count++;
        in->bytes += sizeof(e->head) + e->head.len;
    }
    spin_unlock(&in->lock);
    wake_up_events(&in->wait, POLLIN | POLLRDNORM);
}

/* Needs notify_lock. The watch is freed by notify_collect. */
static void end_watch(struct watch *w)
{
    queue_event(w->in, w->wd, IN_IGNORED, 0, NULL);
    list_remove(&w->link);
    w->in = NULL;
    notify_unwatch(&w->w);
}

static void on_event(struct inode_watch *iw, u32 mask, u32 cookie, const char *name)
{
    struct watch *w = container_of(iw, struct watch, w);
    u32 what = mask & NOTIFY_ALL;

    if (what & w->mask)
        queue_event(w->in, w->wd, what | (mask & NOTIFY_ISDIR), cookie, name);
    if (what & NOTIFY_DELETE_SELF || (what & w->mask && w->mask & IN_ONESHOT))
        end_watch(w);
}

static void on_dead(struct inode_watch *iw)
{
    kfree(container_of(iw, struct watch, w));
}

static struct event *first_event(struct instance *in, u64 room, i64 *err)
{
    struct event *e = NULL;

    spin_lock(&in->lock);
    *err = list_empty(&in->events) ? -EAGAIN : 0;
    if (!*err) {
        e = list_first(&in->events, struct event, link);
        if (sizeof(e->head) + e->head.len > room) {
            *err = -EINVAL;
            e = NULL;
        } else {
            list_remove(&e->link);
            in->count--;
            in->bytes -= sizeof(e->head) + e->head.len;
        }
    }
    spin_unlock(&in->lock);
    return e;
}

static i64 inotify_read(struct file *file, struct iter *to, i64 *pos)
{
    struct instance *in = file->priv;
    struct event *e;
    i64 done = 0, err;

    for (;;) {
        while ((e = first_event(in, to->left, &err))) {
            u64 n = sizeof(e->head) + e->head.len, moved;

            moved = iter_put(to, &e->head, sizeof(e->head));
            moved += iter_put(to, e->name, e->head.len);
            kfree(e);
            if (moved < n)
                return done ? done : -EFAULT;
            done += (i64)n;
        }
        if (done || err != -EAGAIN || file->oflags & O_NONBLOCK)
            return done ? done : err;
        err = wait_event_interruptible(&in->wait, atomic_load(&in->count));
        if (err)
            return err;
    }
}

static u32 inotify_poll(struct file *file, struct poll_table *pt)
{
    struct instance *in = file->priv;

    poll_wait(pt, &in->wait);
    return atomic_load(&in->count) ? POLLIN | POLLRDNORM : 0;
}

static long inotify_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct instance *in = file->priv;
    int n = (int)atomic_load(&in->bytes);

    return cmd == FIONREAD ? put_user(arg, n) : -ENOTTY;
}

static void inotify_release(struct file *file)
{
    struct instance *in = file->priv;

    mutex_lock(&notify_lock);
    while (!list_empty(&in->watches))
        end_watch(list_first(&in->watches, struct watch, link));
    mutex_unlock(&notify_lock);
    notify_collect();
    while (!list_empty(&in->events)) {
        struct event *e = list_first(&in->events, struct event, link);

        list_remove(&e->link);
        kfree(e);
    }
    kfree(in);
}

static const struct file_ops inotify_fops = {
    .read = inotify_read,
    .poll = inotify_poll,
    .ioctl = inotify_ioctl,
    .release = inotify_release,
};

long sys_inotify_init1(u64 flags)
{
    struct instance *in;
    struct file *f;

    if (flags & ~(u64)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    in = kzalloc(sizeof(*in));
    if (!in)
        return -ENOMEM;
    list_init(&in->watches);
    list_init(&in->events);
    spin_init(&in->lock, "inotify");
    waitq_init(&in->wait);
    f = file_anon("anon_inode:inotify", 0600, &inotify_fops, in, O_RDONLY | (flags & O_NONBLOCK));
    if (!f) {
        kfree(in);
        return -ENOMEM;
    }
    if (BUG(inotify_double_free)) {
        long fd = fd_install(f, (u32)flags);
        if (fd < 0) {
            BUG_NOTE(inotify_double_free, 1);
            kfree(in);
        }
        return fd;
    }
    return fd_install(f, (u32)flags);
}

static struct watch *find_watch(struct instance *in, const struct inode *inode)
{
    list_for_each(w, &in->watches, struct watch, link)
        if (w->w.at.inode == inode)
            return w;
    return NULL;
}

/* Needs notify_lock. */
static long add_watch(struct instance *in, const struct path *at, u32 mask)
{
    struct watch *w = find_watch(in, at->inode);
    u32 kept = NOTIFY_ALL | IN_ONESHOT | IN_EXCL_UNLINK;

    if (w && mask & IN_MASK_CREATE)
        return -EEXIST;
    if (w) {
        w->mask = (mask & kept) | (mask & IN_MASK_ADD ? w->mask : 0);
        return w->wd;
    }
    w = kzalloc(sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->in = in;
    w->wd = ++in->last_wd;
    w->mask = mask & kept;
    w->w.event = on_event;
    w->w.dead = on_dead;
    list_push_back(&in->watches, &w->link);
    notify_watch(&w->w, at);
    return w->wd;
}

static struct file *get_instance(u64 fd, long *err)
{
    struct file *f = fd_get((int)fd);

    *err = f ? f->ops == &inotify_fops ? 0 : -EINVAL : -EBADF;
    if (*err) {
        file_put(f);
        return NULL;
    }
    return f;
}

long sys_inotify_add_watch(u64 fd, u64 path, u64 mask)
{
    u32 how = (mask & IN_DONT_FOLLOW ? 0 : WALK_FOLLOW) | (mask & IN_ONLYDIR ? WALK_DIR : 0);
    struct path at;
    struct file *f;
    long result;

    if (!(mask & NOTIFY_ALL) || (mask & IN_MASK_ADD && mask & IN_MASK_CREATE))
        return -EINVAL;
    f = get_instance(fd, &result);
    if (!f)
        return result;
    result = at_walk(AT_FDCWD, path, 0, how, &at);
    if (!result) {
        result = inode_access(at.inode, 4);
        if (!result) {
            mutex_lock(&notify_lock);
            result = add_watch(f->priv, &at, (u32)mask);
            mutex_unlock(&notify_lock);
        }
        path_put(&at);
    }
    file_put(f);
    return result;
}

long sys_inotify_rm_watch(u64 fd, u64 wd)
{
    long err;
    struct file *f = get_instance(fd, &err);
    struct instance *in;

    if (!f)
        return err;
    in = f->priv;
    err = -EINVAL;
    mutex_lock(&notify_lock);
    list_for_each_safe(w, &in->watches, struct watch, link) {
        if (w->wd != (int)wd)
            continue;
        end_watch(w);
        err = 0;
        break;
    }
    mutex_unlock(&notify_lock);
    notify_collect();
    file_put(f);
    return err;
}

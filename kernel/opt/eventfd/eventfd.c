/*
 * eventfd.c: eventfd2 and the timerfd family: a counter as a file, raised by write(2) or a timer.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "period.h"
#include "poll.h"
#include "proc.h"
#include "syscall.h"
#include "timeout.h"
#include "vm.h"

#define EFD_SEMAPHORE     1
#define COUNT_MAX         0xfffffffffffffffeUL
#define CLOCK_REALTIME    0
#define CLOCK_MONOTONIC   1
#define CLOCK_BOOTTIME    7
#define TFD_TIMER_ABSTIME 1

struct counter {
    struct spinlock lock;
    u64 count; /* (lock) */
    bool semaphore;
    struct waitq wait;
    /* timerfd only */
    struct timeout timer;
    int clock;
    u64 when;     /* (lock) next expiry in ticks, 0: not armed */
    u64 interval; /* (lock) ticks */
};

static struct counter *counter_new(void)
{
    struct counter *c = kzalloc(sizeof(*c));

    if (!c)
        return NULL;
    spin_init(&c->lock, "eventfd");
    waitq_init(&c->wait);
    return c;
}

static i64 counter_read(struct file *file, struct iter *to, i64 *pos)
{
    struct counter *c = file->priv;
    u64 value;

    if (to->left < sizeof(value))
        return -EINVAL;
    for (;;) {
        long err;

        spin_lock(&c->lock);
        if (BUG(eventfd_semaphore_underflow) && c->semaphore)
            value = 1;
        else
            value = c->semaphore ? c->count != 0 : c->count;
        BUG_NOTE_MORE(eventfd_semaphore_underflow, c->semaphore, c->count);
        c->count -= value;
        spin_unlock(&c->lock);
        if (value)
            break;
        if (file->oflags & O_NONBLOCK)
            return -EAGAIN;
        err = wait_event_interruptible(&c->wait, atomic_load(&c->count));
        if (err)
            return err;
    }
    wake_up_events(&c->wait, POLLOUT | POLLWRNORM);
    return iter_put(to, &value, sizeof(value)) == sizeof(value) ? (i64)sizeof(value) : -EFAULT;
}

static i64 eventfd_write(struct file *file, struct iter *from, i64 *pos)
{
    struct counter *c = file->priv;
    u64 value;
    bool fits;

    if (from->left < sizeof(value))
        return -EINVAL;
    if (iter_get(from, &value, sizeof(value)) < sizeof(value))
        return -EFAULT;
    if (value > COUNT_MAX)
        return -EINVAL;
    for (;;) {
        long err;

        spin_lock(&c->lock);
        fits = value <= COUNT_MAX - c->count;
        if (fits)
            c->count += value;
        spin_unlock(&c->lock);
        if (fits)
            break;
        if (file->oflags & O_NONBLOCK)
            return -EAGAIN;
        err = wait_event_interruptible(&c->wait, value <= COUNT_MAX - atomic_load(&c->count));
        if (err)
            return err;
    }
    wake_up_events(&c->wait, POLLIN | POLLRDNORM);
    return sizeof(value);
}

static u32 counter_poll(struct file *file, struct poll_table *pt)
{
    struct counter *c = file->priv;
    u64 count;

    poll_wait(pt, &c->wait);
    count = atomic_load(&c->count);
    return (count ? POLLIN | POLLRDNORM : 0) |
           (!c->timer.fn && count < COUNT_MAX ? POLLOUT | POLLWRNORM : 0);
}

static void eventfd_release(struct file *file)
{
    kfree(file->priv);
}

static const struct file_ops eventfd_fops = {
    .read = counter_read,
    .write = eventfd_write,
    .poll = counter_poll,
    .release = eventfd_release,
};

long sys_eventfd2(u64 initial, u64 flags)
{
    struct counter *c;
    struct file *f;

    if (flags & ~(u64)(O_CLOEXEC | O_NONBLOCK | EFD_SEMAPHORE))
        return -EINVAL;
    c = counter_new();
    if (!c)
        return -ENOMEM;
    c->count = (u32)initial;
    c->semaphore = flags & EFD_SEMAPHORE;
    f = file_anon("anon_inode:[eventfd]", 0600, &eventfd_fops, c, O_RDWR | (flags & O_NONBLOCK));
    if (!f) {
        kfree(c);
        return -ENOMEM;
    }
    return fd_install(f, (u32)flags);
}

static void timer_fires(void *arg)
{
    struct counter *c = arg;
    u64 expired = 1;

    spin_lock(&c->lock);
    if (c->interval) {
        c->when = timeout_advance(c->when, c->interval, &expired);
        timeout_set(&c->timer, c->when);
    } else {
        c->when = 0;
    }
    c->count += expired;
    spin_unlock(&c->lock);
    wake_up_events(&c->wait, POLLIN | POLLRDNORM);
}

static void timerfd_release(struct file *file)
{
    struct counter *c = file->priv;

    spin_lock(&c->lock);
    c->interval = 0;
    spin_unlock(&c->lock);
    timeout_cancel_sync(&c->timer);
    kfree(c);
}

static const struct file_ops timerfd_fops = {
    .read = counter_read,
    .poll = counter_poll,
    .release = timerfd_release,
};

long sys_timerfd_create(u64 clock, u64 flags)
{
    struct counter *c;
    struct file *f;

    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME) ||
        flags & ~(u64)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    c = counter_new();
    if (!c)
        return -ENOMEM;
    c->clock = (int)clock;
    timeout_init_entry(&c->timer, TIMEOUT_IRQ, timer_fires, c);
    f = file_anon("anon_inode:[timerfd]", 0600, &timerfd_fops, c, O_RDWR | (flags & O_NONBLOCK));
    if (!f) {
        kfree(c);
        return -ENOMEM;
    }
    return fd_install(f, (u32)flags);
}

struct itimerspec { /* ABI */
    struct timespec64 interval, value;
};

static struct timespec64 to_timespec(u64 ticks)
{
    return (struct timespec64){ticks / TICKS_PER_SEC, ticks % TICKS_PER_SEC * NS_PER_TICK};
}

static bool valid(const struct timespec64 *t)
{
    return t->sec >= 0 && t->sec < 1L << 40 && t->nsec >= 0 && t->nsec < 1000000000;
}

static u64 to_ticks(const struct timespec64 *t)
{
    return t->sec * TICKS_PER_SEC + ns_to_ticks(t->nsec);
}

/* Needs the lock. The result of timerfd_gettime. */
static void current_setting(struct counter *c, struct itimerspec *out)
{
    u64 now = time_now();

    out->interval = to_timespec(c->interval);
    out->value = to_timespec(!c->when ? 0 : c->when > now ? c->when - now : 1);
}

/* The expiry of a setting in ticks since boot, to which wall-clock times are converted. */
static u64 expiry(struct counter *c, const struct timespec64 *value, bool absolute)
{
    u64 ticks = to_ticks(value), boot;

    if (!absolute)
        return time_now() + ticks;
    if (c->clock != CLOCK_REALTIME)
        return MAX(ticks, 1);
    boot = time_wall_ns() / NS_PER_TICK - time_now();
    return ticks > boot ? ticks - boot : 1;
}

static struct file *timerfd_get(u64 fd, long *err)
{
    struct file *f = fd_get((int)fd);

    *err = f ? 0 : -EBADF;
    if (f && f->ops != &timerfd_fops) {
        file_put(f);
        *err = -EINVAL;
        return NULL;
    }
    return f;
}

long sys_timerfd_settime(u64 fd, u64 flags, u64 new_addr, u64 old_addr)
{
    struct itimerspec new, old;
    struct counter *c;
    struct file *f;
    long err;

    if (get_user(new, new_addr))
        return -EFAULT;
    if (flags & ~(u64)3 || !valid(&new.interval) || !valid(&new.value))
        return -EINVAL;
    f = timerfd_get(fd, &err);
    if (!f)
        return err;
    c = f->priv;
    spin_lock(&c->lock);
    current_setting(c, &old);
    c->interval = 0;
    spin_unlock(&c->lock);
    timeout_cancel_sync(&c->timer);
    spin_lock(&c->lock);
    c->count = 0;
    c->when = 0;
    c->interval = to_ticks(&new.interval); /* timerfd_gettime shows it also if not armed */
    if (new.value.sec || new.value.nsec) {
        c->when = expiry(c, &new.value, flags & TFD_TIMER_ABSTIME);
        timeout_set(&c->timer, c->when);
    }
    spin_unlock(&c->lock);
    file_put(f);
    return old_addr ? put_user(old_addr, old) : 0;
}

long sys_timerfd_gettime(u64 fd, u64 addr)
{
    struct itimerspec now;
    struct counter *c;
    long err;
    struct file *f = timerfd_get(fd, &err);

    if (!f)
        return err;
    c = f->priv;
    spin_lock(&c->lock);
    current_setting(c, &now);
    spin_unlock(&c->lock);
    file_put(f);
    return put_user(addr, now);
}

/* pipe_ends.c: what splice(2) needs of a pipe besides reading and writing. */
#include "opt/splice/pipe_ends.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "bugs.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "signal.h"

bool pipe_is(const struct file *f)
{
    return f->ops == &pipe_fops;
}

/* Needs the lock. Copies up to n of the first bytes; how many. */
static u64 copy_first(const struct pipe *p, char *buf, u64 n)
{
    u64 first;

    n = MIN(n, p->len);
    first = MIN(n, p->size - p->head);
    if (n) {
        memcpy(buf, p->buf + p->head, first);
        memcpy(buf + first, p->buf, n - first);
    }
    return n;
}

i64 pipe_hold(struct file *f, char *buf, u64 n, bool nonblock)
{
    struct pipe *p = f->priv;
    i64 got;

    for (;;) {
        mutex_lock(&p->lock);
        got = p->held || (!p->len && p->writers) ? -EAGAIN : (i64)copy_first(p, buf, n);
        if (got > 0)
            p->held = true;
        mutex_unlock(&p->lock);
        if (got != -EAGAIN || nonblock || f->oflags & O_NONBLOCK)
            return got;
        if (BUG(pipe_splice_lost_wake)) {
            bool waited = false;
            got = wait_event_interruptible(
                &p->wait,
                waited || (waited = true, BUG_NOTE(pipe_splice_lost_wake, p->len), false));
        } else {
            got = wait_event_interruptible(&p->wait, !p->held && (p->len || !p->writers));
        }
        if (got)
            return got;
    }
}

void pipe_unhold(struct file *f, u64 used)
{
    struct pipe *p = f->priv;

    mutex_lock(&p->lock);
    p->held = false;
    p->len -= used;
    p->head = p->size ? (p->head + used) % p->size : 0;
    mutex_unlock(&p->lock);
    wake_up_events(&p->wait, POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM);
}

/*
 * Needs the lock. Adds bytes that were read from a file, which cannot take them back: all of them,
 * even beyond the capacity, or -ENOMEM or -EAGAIN without memory.
 */
static i64 append(struct pipe *p, const char *buf, u64 n)
{
    u64 capacity = p->capacity;
    struct iter it;
    i64 done;

    p->capacity = MAX(capacity, p->len + n);
    iter_kernel(&it, (void *)buf, n);
    done = pipe_make_room(p, n, n);
    if (!done)
        done = pipe_add(p, &it);
    p->capacity = capacity;
    return done;
}

i64 pipe_push(struct file *f, const char *buf, u64 n)
{
    struct pipe *p = f->priv;
    i64 done;

    mutex_lock(&p->lock);
    done = p->readers ? append(p, buf, n) : -EPIPE;
    mutex_unlock(&p->lock);
    if (done > 0)
        wake_up_events(&p->wait, POLLIN | POLLRDNORM);
    if (done == -EPIPE)
        signal_send_thread(current, SIGPIPE, NULL);
    return done;
}

i64 pipe_wait_room(struct file *f, bool nonblock)
{
    struct pipe *p = f->priv;
    i64 err = 0, free;

    if (!nonblock && !(f->oflags & O_NONBLOCK))
        err = wait_event_interruptible(&p->wait, pipe_room(p) > 0 || !p->readers);
    if (err)
        return err;
    mutex_lock(&p->lock);
    free = p->readers ? (i64)pipe_room(p) : -EPIPE;
    mutex_unlock(&p->lock);
    if (free == -EPIPE)
        signal_send_thread(current, SIGPIPE, NULL);
    return free ? free : -EAGAIN;
}

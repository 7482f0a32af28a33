/*
 * pipe.c: pipes (pipe2) and FIFOs (mknod S_IFIFO), one byte ring with two ends.
 *
 * Writes of up to PIPE_BUF bytes are atomic: they wait until all bytes fit. The ring has 64 KiB;
 * with opt/fifo it starts with one page, and grows to a capacity that F_SETPIPE_SZ changes.
 *
 * A pipe lives as long as one of its ends is open. Its inode (a FIFO's, or the nameless one of both
 * ends) points to it meanwhile, without a reference. pipe->lock is a mutex, so user memory may be
 * accessed while it is held.
 */
#include "pipe.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "proc.h"
#include "signal.h"
#include "syscall.h"
#include "vm.h"

#define PIPE_CAPACITY 65536

struct pipe *pipe_new(void)
{
    struct pipe *p = kzalloc(sizeof(*p));

    if (!p)
        return NULL;
    mutex_init(&p->lock, "pipe");
    waitq_init(&p->wait);
    p->capacity = PIPE_CAPACITY;
    if (HAS_OPTION(CONFIG_FIFO))
        return p; /* its ring grows */
    p->size = PIPE_CAPACITY;
    p->buf = kmalloc(p->size);
    if (p->buf)
        return p;
    kfree(p);
    return NULL;
}

static i64 take_bytes(struct pipe *p, struct iter *to)
{
    i64 done = 0;

    while (p->len && to->left) {
        u64 n = MIN(MIN(p->len, p->size - p->head), to->left);
        u64 moved = iter_put(to, p->buf + p->head, n);

        p->head = (p->head + moved) % p->size;
        p->len -= moved;
        done += moved;
        if (moved < n)
            return done ? done : -EFAULT;
    }
    return done;
}

static i64 pipe_read(struct file *file, struct iter *to, i64 *pos)
{
    struct pipe *p = file->priv;
    i64 n;

    if (!to->left)
        return 0;
    for (;;) {
        mutex_lock(&p->lock);
        n = p->held ? -EAGAIN : take_bytes(p, to);
        if (!n && p->writers)
            n = -EAGAIN;
        mutex_unlock(&p->lock);
        if (n > 0)
            wake_up_events(&p->wait, POLLOUT | POLLWRNORM);
        if (n != -EAGAIN || file->oflags & O_NONBLOCK)
            return n;
        n = wait_event_interruptible(&p->wait, !p->held && (p->len || !p->writers));
        if (n)
            return n;
    }
}

u64 pipe_room(const struct pipe *p)
{
    return p->capacity > p->len ? p->capacity - p->len : 0;
}

/* Grows the ring towards wanted more bytes; -EAGAIN if need bytes do not fit. Needs the lock. */
i64 pipe_make_room(struct pipe *p, u64 need, u64 wanted)
{
    if (pipe_room(p) >= need && !pipe_grow(p, p->len + MIN(wanted, pipe_room(p))))
        return -ENOMEM;
    return pipe_room(p) < need ? -EAGAIN : 0;
}

/* Moves as many bytes as fit. Needs the lock. */
i64 pipe_add(struct pipe *p, struct iter *from)
{
    i64 done = 0;
    u64 limit = MIN(p->size, p->capacity); /* pipe_push may have made the ring larger */

    while (p->len < limit && from->left) {
        u64 tail = (p->head + p->len) % p->size;
        u64 n = MIN(MIN(limit - p->len, p->size - tail), from->left);
        u64 moved = iter_get(from, p->buf + tail, n);

        p->len += moved;
        done += moved;
        if (moved < n)
            return done ? done : -EFAULT;
    }
    return done;
}

static i64 pipe_write(struct file *file, struct iter *from, i64 *pos)
{
    struct pipe *p = file->priv;
    u64 need = from->left <= PIPE_BUF ? from->left : 1;
    i64 done = 0, n;

    while (from->left) {
        mutex_lock(&p->lock);
        n = p->readers ? pipe_make_room(p, need, from->left) : -EPIPE;
        if (!n)
            n = pipe_add(p, from);
        mutex_unlock(&p->lock);
        if (n > 0) {
            done += n;
            need = MIN(need, from->left);
            wake_up_events(&p->wait, POLLIN | POLLRDNORM);
            continue;
        }
        if (n == -EPIPE)
            signal_send_thread(current, SIGPIPE, NULL);
        if (n != -EAGAIN || file->oflags & O_NONBLOCK)
            return done ? done : n;
        n = wait_event_interruptible(&p->wait, pipe_room(p) >= need || !p->readers);
        if (n)
            return done ? done : n;
    }
    return done;
}

/* An end is closed; the last one frees the pipe. */
void pipe_release(struct file *file)
{
    struct pipe *p = file->priv;
    bool dead;

    mutex_lock(&fs_lock);
    mutex_lock(&p->lock);
    p->readers -= !!(file->fflags & FF_READ);
    p->writers -= !!(file->fflags & FF_WRITE);
    dead = !p->readers && !p->writers;
    if (dead && p->fifo)
        p->fifo->bound = NULL;
    else /* under the lock: once it is released, the other end may free the pipe */
        wake_up_events(&p->wait, POLLHUP | POLLERR | POLLIN | POLLOUT);
    mutex_unlock(&p->lock);
    mutex_unlock(&fs_lock);
    if (dead) {
        BUG_NOTE_WATCHED(fifo_open_unlocked, p);
        kfree(p->buf);
        kfree(p);
    }
}

const struct file_ops pipe_fops = {
    .release = pipe_release,
    .read = pipe_read,
    .write = pipe_write,
    .poll = IF_OPTION(CONFIG_POLL, pipe_poll),
    .available = IF_OPTION(CONFIG_POLL, pipe_available),
    .ioctl = IF_OPTION(CONFIG_FIFO, pipe_ioctl),
};

long sys_pipe2(u64 fds_addr, u64 flags)
{
    struct pipe *p;
    struct file *end[2] = {NULL, NULL};
    int fd[2];
    long err;

    if (flags & ~(u64)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
        return -EINVAL;
    p = pipe_new();
    if (!p)
        return -ENOMEM;
    p->readers = p->writers = 1;
    p->nameless = true;
    end[0] = file_anon("pipe", S_IFIFO | 0600, &pipe_fops, p, O_RDONLY | (flags & O_NONBLOCK));
    if (!end[0]) {
        kfree(p->buf);
        kfree(p);
        return -ENOMEM;
    }
    p->opens[0] = p->opens[1] = 1;
    p->fifo = end[0]->inode; /* opening /proc/self/fd/N makes one more end */
    p->fifo->bound = p;
    end[1] = file_on_inode(p->fifo, "pipe", &pipe_fops, p, O_WRONLY | (flags & O_NONBLOCK));
    if (!end[1]) {
        p->writers = 0;
        file_put(end[0]);
        return -ENOMEM;
    }
    fd[0] = fd_install(end[0], (u32)flags);
    if (fd[0] < 0) {
        file_put(end[1]);
        return fd[0];
    }
    fd[1] = fd_install(end[1], (u32)flags);
    err = fd[1] < 0 ? fd[1] : copyout(fds_addr, fd, sizeof(fd));
    if (err) {
        fd_close(fd[0]);
        if (fd[1] >= 0)
            fd_close(fd[1]);
    }
    return err;
}

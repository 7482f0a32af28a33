/*
 * pipe.c: pipes (pipe2) and FIFOs (mknod S_IFIFO), one byte ring with two ends.
 *
 * Writes of up to PIPE_BUF bytes are atomic: they wait until all bytes fit. The ring starts with
 * one page and grows to the pipe's capacity (64 KiB unless F_SETPIPE_SZ changes it).
 *
 * A pipe lives as long as one of its ends is open. Its inode (a FIFO's, or the nameless one of both
 * ends) points to it meanwhile, without a reference. pipe->lock is a mutex, so user memory may be
 * accessed while it is held.
 */
#include "pipe.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "signal.h"
#include "syscall.h"
#include "vm.h"

#define PIPE_BUF          4096
#define PIPE_CAPACITY     65536
#define PIPE_CAPACITY_MAX 1048576
#define FIONREAD          0x541b

struct pipe {
    struct mutex lock;
    char *buf;            /* (lock) ring of size bytes */
    u64 size;             /* (lock) allocated */
    u64 capacity;         /* (lock) limit of size */
    u64 head, len;        /* (lock) first byte in the ring, number of bytes */
    u32 readers, writers; /* (lock) open ends */
    u32 opens[2];         /* (lock) FIFO: number of opens by a reader [0], a writer [1] so far */
    bool held;            /* (lock) a splice copies the first bytes: readers wait */
    struct waitq wait;    /* woken by every change */
    struct inode *fifo;   /* the inode whose bound points here, or NULL */
    bool nameless;        /* of pipe2(2): an open through /proc/self/fd does not wait */
};

static struct pipe *pipe_new(void)
{
    struct pipe *p = kzalloc(sizeof(*p));

    if (!p)
        return NULL;
    mutex_init(&p->lock, "pipe");
    waitq_init(&p->wait);
    p->capacity = PIPE_CAPACITY;
    return p;
}

/* Grows the ring to want bytes, within its capacity; then head is 0. Needs the lock. */
static bool pipe_grow(struct pipe *p, u64 want)
{
    u64 size = MAX(p->size, PAGE_SIZE), first;
    char *buf;

    while (size < want && size < p->capacity)
        size *= 2;
    if (size <= p->size)
        return true;
    buf = kmalloc(size);
    if (!buf && p->size)
        p->capacity = p->size; /* no memory: writers wait until readers empty this ring */
    if (!buf)
        return p->size != 0;
    first = MIN(p->len, p->size - p->head);
    if (p->len) {
        memcpy(buf, p->buf + p->head, first);
        memcpy(buf + first, p->buf, p->len - first);
    }
    kfree(p->buf);
    p->buf = buf;
    p->size = size;
    p->head = 0;
    return true;
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

static u64 room(const struct pipe *p)
{
    return p->capacity > p->len ? p->capacity - p->len : 0;
}

/* Grows the ring towards wanted more bytes; -EAGAIN if need bytes do not fit. Needs the lock. */
static i64 make_room(struct pipe *p, u64 need, u64 wanted)
{
    if (room(p) >= need && !pipe_grow(p, p->len + MIN(wanted, room(p))))
        return -ENOMEM;
    return room(p) < need ? -EAGAIN : 0;
}

/* Moves as many bytes as fit. Needs the lock. */
static i64 add_bytes(struct pipe *p, struct iter *from)
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
        n = p->readers ? make_room(p, need, from->left) : -EPIPE;
        if (!n)
            n = add_bytes(p, from);
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
        n = wait_event_interruptible(&p->wait, room(p) >= need || !p->readers);
        if (n)
            return done ? done : n;
    }
    return done;
}

static u32 pipe_poll(struct file *file, struct poll_table *pt)
{
    struct pipe *p = file->priv;
    u32 bits = 0;

    poll_wait(pt, &p->wait);
    if (file->fflags & FF_READ) {
        if (p->len)
            bits |= POLLIN | POLLRDNORM;
        if (!p->writers && (!p->fifo || p->opens[1]))
            bits |= POLLHUP;
    }
    if (file->fflags & FF_WRITE) {
        if (room(p) >= PIPE_BUF)
            bits |= POLLOUT | POLLWRNORM;
        if (!p->readers)
            bits |= POLLERR;
    }
    return bits;
}

static i64 pipe_available(struct file *file)
{
    struct pipe *p = file->priv;

    return p->len;
}

static long pipe_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct pipe *p = file->priv;
    int n = (int)p->len;

    return cmd == FIONREAD ? put_user(arg, n) : -ENOTTY;
}

/* An end is closed; the last one frees the pipe. */
static void pipe_release(struct file *file)
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
        kfree(p->buf);
        kfree(p);
    }
}

static const struct file_ops pipe_fops = {
    .release = pipe_release,
    .read = pipe_read,
    .write = pipe_write,
    .poll = pipe_poll,
    .available = pipe_available,
    .ioctl = pipe_ioctl,
};

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
        got = wait_event_interruptible(&p->wait, !p->held && (p->len || !p->writers));
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
    done = make_room(p, n, n);
    if (!done)
        done = add_bytes(p, &it);
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
        err = wait_event_interruptible(&p->wait, room(p) > 0 || !p->readers);
    if (err)
        return err;
    mutex_lock(&p->lock);
    free = p->readers ? (i64)room(p) : -EPIPE;
    mutex_unlock(&p->lock);
    if (free == -EPIPE)
        signal_send_thread(current, SIGPIPE, NULL);
    return free ? free : -EAGAIN;
}

long pipe_fcntl_size(struct file *f, bool set, u64 size)
{
    struct pipe *p = f->priv;
    long result;

    if (f->ops != &pipe_fops)
        return -EBADF;
    if (!set)
        return p->capacity;
    if (size > PIPE_CAPACITY_MAX)
        return curproc->euid ? -EPERM : -EINVAL;
    mutex_lock(&p->lock);
    for (result = PAGE_SIZE; (u64)result < size;)
        result *= 2;
    if ((u64)result < MAX(p->len, p->size))
        result = (u64)result < p->len ? -EBUSY : (long)p->size;
    if (result > 0)
        p->capacity = result;
    mutex_unlock(&p->lock);
    return result;
}

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

/* Finds or makes the pipe of a FIFO and counts the new end; returns with p->lock held. */
static struct pipe *fifo_attach(struct inode *inode, struct file *file)
{
    struct pipe *p;

    mutex_lock(&fs_lock);
    p = inode->bound;
    if (!p) {
        p = pipe_new();
        if (p) {
            p->fifo = inode;
            inode->bound = p;
        }
    }
    if (p) {
        mutex_lock(&p->lock);
        p->readers += !!(file->fflags & FF_READ);
        p->writers += !!(file->fflags & FF_WRITE);
        p->opens[0] += !!(file->fflags & FF_READ);
        p->opens[1] += !!(file->fflags & FF_WRITE);
    }
    mutex_unlock(&fs_lock);
    return p;
}

/* open(2) of a FIFO waits for the other end; O_NONBLOCK writers without a reader get -ENXIO. */
static int fifo_open(struct inode *inode, struct file *file)
{
    struct pipe *p = fifo_attach(inode, file);
    bool reads = file->fflags & FF_READ, writes = file->fflags & FF_WRITE;
    long err = 0;

    if (!p)
        return -ENOMEM;
    u32 other = reads ? 1 : 0, seen = p->opens[other];
    bool alone = !p->nameless && (reads ? p->writers : p->readers) == 0;
    mutex_unlock(&p->lock);
    file->ops = &pipe_fops;
    file->priv = p;
    file->fflags |= FF_STREAM;
    wake_up_events(&p->wait, 0);
    if (alone && !(reads && writes)) {
        if (file->oflags & O_NONBLOCK)
            err = writes ? -ENXIO : 0;
        else
            err = wait_event_interruptible(&p->wait, p->opens[other] != seen);
    }
    if (err)
        pipe_release(file);
    return (int)err;
}

const struct file_ops fifo_fops = {.open = fifo_open};

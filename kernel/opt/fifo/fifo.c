/* fifo.c: FIFOs: pipes with a name (mknod S_IFIFO), and F_SETPIPE_SZ. */
#include "fs/pipe.h"
#include "opt/fifo/fifo.h"
#include "abi/errno.h"
#include "bugs.h"
#include "proc.h"

long pipe_fcntl_size(struct file *f, bool set, u64 size)
{
    struct pipe *p = f->priv;
    long result;

    if (f->ops != &pipe_fops)
        return -EBADF;
    if (!set)
        return p->capacity;
    BUG_NOTE(pipe_size_truncation, size >> 32);
    if (BUG(pipe_size_truncation))
        size = (u32)size;
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

/* Finds or makes the pipe of a FIFO and counts the new end; returns with p->lock held. */
static struct pipe *fifo_attach(struct inode *inode, struct file *file)
{
    struct pipe *p;

    if (!BUG(fifo_open_unlocked))
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
        BUG_WATCH(fifo_open_unlocked, p);
        mutex_lock(&p->lock);
        BUG_WATCH(fifo_open_unlocked, NULL);
        p->readers += !!(file->fflags & FF_READ);
        p->writers += !!(file->fflags & FF_WRITE);
        p->opens[0] += !!(file->fflags & FF_READ);
        p->opens[1] += !!(file->fflags & FF_WRITE);
    }
    if (!BUG(fifo_open_unlocked))
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

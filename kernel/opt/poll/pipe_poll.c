/* pipe_poll.c: readiness of pipes. */
#include "fs/pipe.h"
#include "poll.h"

u32 pipe_poll(struct file *file, struct poll_table *pt)
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
        if (pipe_room(p) >= PIPE_BUF)
            bits |= POLLOUT | POLLWRNORM;
        if (!p->readers)
            bits |= POLLERR;
    }
    return bits;
}

i64 pipe_available(struct file *file)
{
    struct pipe *p = file->priv;

    return p->len;
}

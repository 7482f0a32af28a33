/* ring.c: rings of pipes that grow with their contents. */
#include "alloc.h"
#include "fs/pipe.h"
#include "klib.h"
#include "vm.h"

#define FIONREAD 0x541b

bool pipe_grow(struct pipe *p, u64 want)
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

long pipe_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct pipe *p = file->priv;
    int n = (int)p->len;

    return cmd == FIONREAD ? put_user(arg, n) : -ENOTTY;
}

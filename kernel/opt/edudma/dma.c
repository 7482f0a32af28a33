/* dma.c: the buffer of the teaching device as a file: bytes come and go by DMA. */
#include "abi/errno.h"
#include "dev/edu.h"
#include "fs.h"
#include "klib.h"
#include "poll.h"
#include "riscv.h"

enum reg {
    DMA_SOURCE = 0x80,
    DMA_TARGET = 0x88,
    DMA_COUNT = 0x90,
    DMA_COMMAND = 0x98,
};

#define DMA_START     1
#define DMA_TO_MEMORY 2
#define DMA_IRQ       4
#define DEVICE_BUFFER 0x40000 /* the device's own buffer, as the DMA registers address it */

int edu_buffer_init(struct device *dev, struct edu *e)
{
    e->dma = dev_dma_alloc(dev, EDU_BUFFER_BYTES);
    return e->dma ? 0 : -ENOMEM;
}

/* Moves n bytes between e->dma and the device's buffer at offset. Needs e->lock. */
static int transfer(struct edu *e, u32 offset, u32 n, bool to_memory)
{
    u64 mem = dma_addr(e->dma), device = DEVICE_BUFFER + offset;

    edu_begin(e);
    mmio_write64(e->regs + DMA_SOURCE, to_memory ? device : mem);
    mmio_write64(e->regs + DMA_TARGET, to_memory ? mem : device);
    mmio_write64(e->regs + DMA_COUNT, n);
    mmio_write64(e->regs + DMA_COMMAND, DMA_START | DMA_IRQ | (to_memory ? DMA_TO_MEMORY : 0));
    return edu_finish(e);
}

i64 edu_read(struct file *file, struct iter *to, i64 *pos)
{
    struct edu *e = file->priv;
    u64 n = *pos < EDU_BUFFER_BYTES ? MIN(to->left, (u64)(EDU_BUFFER_BYTES - *pos)) : 0, moved = 0;
    int err;

    if (!n)
        return 0;
    mutex_lock(&e->lock);
    err = transfer(e, (u32)*pos, (u32)n, true);
    if (!err)
        moved = iter_put(to, e->dma, n);
    mutex_unlock(&e->lock);
    *pos += moved;
    return err ? err : moved ? (i64)moved : -EFAULT;
}

i64 edu_write(struct file *file, struct iter *from, i64 *pos)
{
    struct edu *e = file->priv;
    u64 n = *pos < EDU_BUFFER_BYTES ? MIN(from->left, (u64)(EDU_BUFFER_BYTES - *pos)) : 0;
    int err;

    if (!n)
        return from->left ? -ENOSPC : 0;
    mutex_lock(&e->lock);
    n = iter_get(from, e->dma, n);
    err = n ? transfer(e, (u32)*pos, (u32)n, false) : -EFAULT;
    mutex_unlock(&e->lock);
    if (!err)
        *pos += n;
    return err ? err : (i64)n;
}

i64 edu_lseek(struct file *file, i64 offset, int whence)
{
    if (whence < 0 || whence > 2)
        return -EINVAL;
    offset = seek_from(whence == 1 ? file->pos : whence == 2 ? EDU_BUFFER_BYTES : 0, offset);
    return offset < 0 ? offset : (file->pos = offset);
}

u32 edu_poll(struct file *file, struct poll_table *pt)
{
    struct edu *e = file->priv;

    poll_wait(pt, &e->wait);
    return atomic_load(&e->busy) ? 0 : POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
}

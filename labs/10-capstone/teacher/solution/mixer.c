/*
 * mixer.c: driver of the mixer: write(2) takes bytes, read(2) gives their hash. The device may fail
 * in any way; then the program gets an error.
 */
#include "abi/errno.h"
#include "dev/mixer.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "timeout.h"

struct mixer {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    u8 *bytes;         /* (lock) memory that the device can reach */
    u32 status;        /* as the interrupt handler read it; 0: no interrupt yet */
    struct waitq wait;
};

static void mixer_interrupt(u32 source, void *arg)
{
    struct mixer *s = arg;
    u32 status = mmio_read32(s->regs + MIXER_STATUS);
    u32 ended = status & (MIXER_DONE | MIXER_FAILED);

    if (status == ~0u) { /* the device was removed */
        dev_lost(s->dev);
        return;
    }
    if (!ended) /* a spurious interrupt: keep the status of the one before */
        return;
    mmio_write32(s->regs + MIXER_STATUS, ended);
    atomic_store(&s->status, ended);
    wake_up(&s->wait);
}

/* Hashes n bytes; needs the lock. Waits for the interrupt, then polls for a limited time. */
static int hash_of(struct mixer *s, u32 n, u32 *hash)
{
    u64 deadline = time_now() + TICKS_PER_SEC / 10;
    u32 status;

    atomic_store(&s->status, 0);
    mmio_write64(s->regs + MIXER_ADDRESS, dma_addr(s->bytes));
    mmio_write32(s->regs + MIXER_COUNT, n);
    while (!atomic_load(&s->status) && !dev_gone(s->dev) && time_now() < deadline)
        wait_event_timeout(&s->wait, atomic_load(&s->status) || dev_gone(s->dev), deadline);
    status = atomic_load(&s->status);
    while (!status && mmio_read32(s->regs + MIXER_STATUS) & MIXER_BUSY)
        if (time_now() > deadline + TICKS_PER_SEC / 1000)
            break;
    if (dev_gone(s->dev))
        return -ENODEV;
    if (!(status & MIXER_DONE))
        return status ? -EINVAL : -EIO;
    *hash = mmio_read32(s->regs + MIXER_RESULT);
    return 0;
}

static i64 mixer_write(struct file *file, struct iter *from, i64 *pos)
{
    struct mixer *s = file->priv;
    u32 hash = 0;
    int err = -EFAULT;
    u64 n;

    if (from->left < 1 || from->left > MIXER_BYTES_MAX)
        return -EINVAL;
    mutex_lock(&s->lock);
    n = from->left;
    if (iter_get(from, s->bytes, n) == n)
        err = hash_of(s, (u32)n, &hash);
    mutex_unlock(&s->lock);
    file->pos = hash; /* every open file has a hash of its own */
    return err ? err : (i64)n;
}

static i64 mixer_read(struct file *file, struct iter *to, i64 *pos)
{
    u32 hash = (u32)file->pos;

    return iter_put(to, &hash, sizeof(hash)) == sizeof(hash) ? (i64)sizeof(hash) : -EFAULT;
}

static const struct file_ops mixer_ops = {.read = mixer_read, .write = mixer_write};

static int mixer_probe(struct device *dev)
{
    struct mixer *s = dev_zalloc(dev, sizeof(*s));
    int err;

    if (!s)
        return -ENOMEM;
    dev->priv = s;
    s->dev = dev;
    mutex_init(&s->lock, "mixer");
    s->regs = dev_ioremap(dev, 0);
    if (!s->regs)
        return -EBUSY;
    if (mmio_read32(s->regs + MIXER_ID) != MIXER_ID_VALUE)
        return -ENODEV;
    s->bytes = dev_dma_alloc(dev, MIXER_BYTES_MAX);
    if (!s->bytes)
        return -ENOMEM;
    if ((err = dev_waitq(dev, &s->wait)) || (err = dev_irq(dev, mixer_interrupt, s)))
        return err;
    return dev_node(dev, "mixer", &mixer_ops, 0666, MKDEV(10, 200), s);
}

DRIVER(mixer){.match = MATCH_TREE(MIXER_COMPATIBLE), .probe = mixer_probe};

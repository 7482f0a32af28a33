/*
 * Driver of ring.ts: write(2) hands its bytes to the device in pieces, read(2) gives their sum. The
 * device owns a descriptor from the moment when the tail passes it until it says DONE, or until the
 * ring is off: only then its buffer is used again.
 */
#include "ring.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "ktest.h"
#include "riscv.h"
#include "timeout.h"

#define ID    0x72696e67
#define SLOTS 16
#define PIECE 200 /* bytes of a buffer */
#define OWNED 1
#define DONE  2
#define WAIT  (TICKS_PER_SEC / 50)

struct descriptor {
    u64 address;
    u32 bytes, flags, sum, unused[3];
};

struct ring {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock;              /* one user at a time */
    volatile struct descriptor *at; /* (lock) SLOTS of them; the device writes flags and sum */
    u8 *buffers;                    /* (lock) SLOTS pieces */
    u32 tail;                       /* (lock) of the next descriptor */
    struct waitq wait;
};

static void ring_interrupt(u32 source, void *arg)
{
    struct ring *r = arg;
    u32 cause = mmio_read32(r->regs + RING_CAUSE);

    if (cause == ~0u) { /* nothing answers any more */
        dev_lost(r->dev);
        return;
    }
    if (cause & RING_CAUSE_COMPLETED)
        mmio_write32(r->regs + RING_CAUSE, RING_CAUSE_COMPLETED);
    wake_up(&r->wait); /* the sleeper looks at memory, not at what this register says */
}

/* Off, and on again with nothing in it: afterwards the device owns no descriptor. */
static void restart(struct ring *r)
{
    mmio_write32(r->regs + RING_CONTROL, 0);
    mmio_write64(r->regs + RING_BASE, dma_addr((const void *)r->at));
    mmio_write32(r->regs + RING_CONTROL, RING_CONTROL_ENABLE);
    r->tail = 0;
}

/* n pieces from slot first on are done. */
static bool all_done(struct ring *r, u32 first, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (r->at[(first + i) % SLOTS].flags != DONE)
            return false;
    mb(); /* the sums were written before */
    return true;
}

/* Sums up to SLOTS - 1 pieces: bytes in r->buffers. Needs the lock. */
static int sum_up(struct ring *r, u32 bytes, u32 *sum)
{
    u32 first = r->tail, n = (bytes + PIECE - 1) / PIECE;
    u64 deadline = time_now() + WAIT;

    for (u32 i = 0; i < n; i++) {
        volatile struct descriptor *d = &r->at[(first + i) % SLOTS];

        d->address = dma_addr(r->buffers + (u64)i * PIECE);
        d->bytes = MIN(PIECE, bytes - i * PIECE);
        d->flags = OWNED;
    }
    r->tail = (first + n) % SLOTS;
    io_mb();
    mmio_write32(r->regs + RING_TAIL, r->tail);
    while (!all_done(r, first, n) && !dev_gone(r->dev) && time_now() < deadline)
        wait_event_timeout(&r->wait, all_done(r, first, n) || dev_gone(r->dev), deadline);
    if (dev_gone(r->dev))
        return -ENODEV;
    if (!all_done(r, first, n)) {
        restart(r);
        return -EIO;
    }
    for (u32 i = 0; i < n; i++)
        *sum += r->at[(first + i) % SLOTS].sum;
    return 0;
}

static i64 ring_write(struct file *file, struct iter *from, i64 *pos)
{
    struct ring *r = file->priv;
    u64 n = MIN(from->left, (u64)PIECE * (SLOTS - 1));
    u32 sum = 0;
    int err = -EFAULT;

    if (!n)
        return 0;
    mutex_lock(&r->lock);
    if (iter_get(from, r->buffers, n) == n)
        err = sum_up(r, (u32)n, &sum);
    mutex_unlock(&r->lock);
    file->pos = sum; /* every open file has a sum of its own */
    return err ? err : (i64)n;
}

static i64 ring_read(struct file *file, struct iter *to, i64 *pos)
{
    u32 sum = (u32)file->pos;

    return iter_put(to, &sum, sizeof(sum)) == sizeof(sum) ? (i64)sizeof(sum) : -EFAULT;
}

static const struct file_ops ring_ops = {.read = ring_read, .write = ring_write};

static int ring_probe(struct device *dev)
{
    struct ring *r = dev_zalloc(dev, sizeof(*r));
    int err;

    if (!r)
        return -ENOMEM;
    dev->priv = r;
    r->dev = dev;
    mutex_init(&r->lock, "ring");
    r->regs = dev_ioremap(dev, 0);
    if (!r->regs)
        return -EBUSY;
    if (mmio_read32(r->regs + RING_ID) != ID)
        return -ENODEV;
    r->at = dev_dma_alloc(dev, SLOTS * sizeof(*r->at));
    r->buffers = dev_dma_alloc(dev, SLOTS * PIECE);
    if (!r->at || !r->buffers)
        return -ENOMEM;
    if ((err = dev_waitq(dev, &r->wait)) || (err = dev_irq(dev, ring_interrupt, r)))
        return err;
    restart(r);
    return dev_node(dev, "ring", &ring_ops, 0666, MKDEV(10, 202), r);
}

/* The device forgets the ring before the driver model frees it. */
static void ring_remove(struct device *dev)
{
    struct ring *r = dev->priv;

    mmio_write32(r->regs + RING_CONTROL, 0);
}

DRIVER(ring){.match = MATCH_TREE(RING_COMPATIBLE), .probe = ring_probe, .remove = ring_remove};

KTEST(it_adds_up_in_pieces)
{
    u8 bytes[500];
    u32 sum = 0;
    struct file *f;

    if (vfs_open("/dev/ring", O_RDWR, 0, &f))
        KTEST_SKIP(test, "no such device on this board");
    memset(bytes, 3, sizeof(bytes));
    for (u32 i = 0; i < 20; i++) { /* the ring wraps */
        EXPECT_EQ(test, file_write_at(f, bytes, sizeof(bytes), 0), sizeof(bytes));
        EXPECT_EQ(test, file_read_at(f, &sum, sizeof(sum), 0), sizeof(sum));
        EXPECT_EQ(test, sum, 1500);
    }
    file_put(f);
}

/*
 * Flawed on purpose: a driver of disk.ts whose fsync sends the flush while writes are in flight.
 * The device completes requests in any order, and a flush covers complete writes only. The fault
 * that shows it: disk:late@13, a block is lost.
 */
#include "disk.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "timeout.h"

#define ID         0x6469736b
#define TAGS       8
#define ALL        ((1u << TAGS) - 1)
#define BLOCK      512u
#define READ       1
#define WRITE      2
#define FLUSH      3
#define OK         1
#define NO_BLOCK   (~0u)
#define WAIT       (TICKS_PER_SEC / 50)
#define DISK_IOCUT 0x6401 /* a power failure, for tests */

struct request {
    u64 address;
    u32 block, command, status, unused[3];
};

struct disk {
    struct device *dev;
    volatile u8 *regs;
    u32 blocks;
    struct mutex lock;           /* one system call at a time; requests go on without it */
    volatile struct request *at; /* (lock) TAGS of them; the device writes status */
    u8 *buffers;                 /* (lock) TAGS blocks */
    u32 busy;                    /* (lock) bit n: the device owns request n */
    int error;                   /* (lock) of a write since the last fsync */
    struct waitq wait;
};

static void disk_interrupt(u32 source, void *arg)
{
    struct disk *d = arg;
    u32 done = mmio_read32(d->regs + DISK_DONE);

    if (done == ~0u) { /* nothing answers any more */
        dev_lost(d->dev);
        return;
    }
    mmio_write32(d->regs + DISK_DONE, done);
    wake_up(&d->wait); /* the sleeper looks at memory, not at what this register says */
}

/* Off, and on again: afterwards the device owns no request. Writes in flight are lost. */
static void restart(struct disk *d)
{
    mmio_write32(d->regs + DISK_CONTROL, 0);
    mmio_write64(d->regs + DISK_REQUESTS, dma_addr((const void *)d->at));
    mmio_write32(d->regs + DISK_CONTROL, DISK_CONTROL_ENABLE);
    if (d->busy)
        d->error = -EIO;
    d->busy = 0;
}

/* Takes back what is complete; true if at most `left` requests of mask stay. Needs the lock. */
static bool reap(struct disk *d, u32 mask, int left)
{
    for (u32 tag = 0; tag < TAGS; tag++) {
        u32 status = d->busy & 1u << tag ? d->at[tag].status : 0;

        if (status)
            d->busy &= ~(1u << tag);
        if (status && status != OK && d->at[tag].command == WRITE)
            d->error = -EIO;
    }
    mb(); /* the device wrote the data before the status */
    return __builtin_popcount(d->busy & mask) <= left;
}

/* Waits until at most `left` requests of mask are in flight. -EIO: too slow. Needs the lock. */
static int wait_for(struct disk *d, u32 mask, int left)
{
    u64 deadline = time_now() + WAIT;

    if (WAIT_LOOP(&d->wait, reap(d, mask, left) || dev_gone(d->dev), SLEEP_UNINTERRUPTIBLE,
                  deadline, (void)0, (void)0)) {
        restart(d);
        return -EIO;
    }
    return dev_gone(d->dev) ? -ENODEV : 0;
}

/* A free request, when no other of its block is in flight; or an error. Needs the lock. */
static int claim(struct disk *d, u32 block)
{
    u32 others = 0;
    int err;

    for (u32 tag = 0; tag < TAGS; tag++)
        if (d->at[tag].block == block)
            others |= 1u << tag;
    err = wait_for(d, others, 0);
    err = err ? err : wait_for(d, ALL, TAGS - 1);
    return err ? err : __builtin_ctz(~d->busy);
}

static void submit(struct disk *d, int tag, u32 command, u32 block)
{
    volatile struct request *r = &d->at[tag];

    r->address = dma_addr(d->buffers + tag * BLOCK);
    r->block = block;
    r->command = command;
    r->status = 0;
    d->busy |= 1u << tag;
    io_mb();
    mmio_write32(d->regs + DISK_SUBMIT, (u32)tag);
}

/* Submits a request and waits for its status. Needs the lock. */
static int finish(struct disk *d, int tag, u32 command, u32 block)
{
    int err;

    submit(d, tag, command, block);
    err = wait_for(d, 1u << tag, 0);
    return err ? err : d->at[tag].status == OK ? 0 : -EIO;
}

/* One block of a transfer. Needs the lock. */
static int move_block(struct disk *d, struct iter *it, u32 block, bool write)
{
    int tag = claim(d, block), err = MIN(tag, 0);
    u8 *buffer = d->buffers + tag * BLOCK;

    if (!err && !write)
        err = finish(d, tag, READ, block);
    if (err)
        return err;
    if ((write ? iter_get(it, buffer, BLOCK) : iter_put(it, buffer, BLOCK)) < BLOCK)
        return -EFAULT;
    if (write)
        submit(d, tag, WRITE, block);
    return 0;
}

static i64 move(struct file *file, struct iter *it, i64 *pos, bool write)
{
    struct disk *d = file->priv;
    i64 done = 0;
    int err = 0;

    if (*pos % BLOCK || it->left % BLOCK)
        return -EINVAL;
    if (write && it->left && (u64)*pos >= (u64)d->blocks * BLOCK)
        return -ENOSPC;
    mutex_lock(&d->lock);
    while (!err && it->left && (u64)*pos < (u64)d->blocks * BLOCK) {
        err = move_block(d, it, (u32)(*pos / BLOCK), write);
        if (!err) {
            *pos += BLOCK;
            done += BLOCK;
        }
    }
    mutex_unlock(&d->lock);
    return done ? done : err;
}

static i64 disk_read(struct file *file, struct iter *to, i64 *pos)
{
    return move(file, to, pos, false);
}

static i64 disk_write(struct file *file, struct iter *from, i64 *pos)
{
    return move(file, from, pos, true);
}

static int disk_fsync(struct file *file)
{
    struct disk *d = file->priv;
    int err, tag;

    mutex_lock(&d->lock);
    tag = claim(d, NO_BLOCK);
    err = tag < 0 ? tag : finish(d, tag, FLUSH, NO_BLOCK);
    err = err ? err : d->error;
    d->error = 0;
    mutex_unlock(&d->lock);
    return err;
}

static long disk_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct disk *d = file->priv;

    if (cmd != DISK_IOCUT)
        return -ENOTTY;
    mmio_write32(d->regs + DISK_CUT, 1);
    return 0;
}

static const struct file_ops disk_ops = {
    .read = disk_read, .write = disk_write, .ioctl = disk_ioctl, .fsync = disk_fsync};

static int disk_probe(struct device *dev)
{
    struct disk *d = dev_zalloc(dev, sizeof(*d));
    int err;

    if (!d)
        return -ENOMEM;
    dev->priv = d;
    d->dev = dev;
    mutex_init(&d->lock, "disk");
    d->regs = dev_ioremap(dev, 0);
    if (!d->regs)
        return -EBUSY;
    if (mmio_read32(d->regs + DISK_ID) != ID)
        return -ENODEV;
    d->blocks = mmio_read32(d->regs + DISK_BLOCKS);
    d->at = dev_dma_alloc(dev, TAGS * sizeof(*d->at));
    d->buffers = dev_dma_alloc(dev, TAGS * BLOCK);
    if (!d->at || !d->buffers)
        return -ENOMEM;
    if ((err = dev_waitq(dev, &d->wait)) || (err = dev_irq(dev, disk_interrupt, d)))
        return err;
    restart(d);
    return dev_node(dev, "disk", &disk_ops, 0666, MKDEV(10, 203), d);
}

/* The device forgets the requests before the driver model frees them. */
static void disk_remove(struct device *dev)
{
    struct disk *d = dev->priv;

    mmio_write32(d->regs + DISK_CONTROL, 0);
}

DRIVER(disk){.match = MATCH_TREE(DISK_COMPATIBLE), .probe = disk_probe, .remove = disk_remove};

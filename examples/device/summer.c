/*
 * Driver of summer.ts: write(2) takes numbers, read(2) gives their sum. summer.h is generated from
 * the definition of the device.
 */
#include "summer.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "ktest.h"
#include "riscv.h"
#include "timeout.h"

#define BYTES_MAX PAGE_SIZE

struct summer {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    u32 *numbers;      /* (lock) memory that the device can reach */
    u32 status;        /* as the interrupt handler read it; 0: no interrupt yet */
    bool left;         /* (lock) the last caller did not see the end of its operation */
    struct waitq wait;
};

static void summer_interrupt(u32 source, void *arg)
{
    struct summer *s = arg;
    u32 status = mmio_read32(s->regs + SUMMER_STATUS);
    u32 ended = status & (SUMMER_STATUS_DONE | SUMMER_STATUS_FAILED);

    if (status == ~0u) { /* the device was removed */
        dev_lost(s->dev);
        return;
    }
    if (!ended) /* a spurious interrupt: keep the status of the one before */
        return;
    mmio_write32(s->regs + SUMMER_STATUS, ended);
    atomic_store(&s->status, ended);
    wake_up(&s->wait);
}

/* Is the device ready for a command? It may still work for a caller that has left. */
static int check_idle(struct summer *s)
{
    u32 status = s->left ? mmio_read32(s->regs + SUMMER_STATUS) : 0;

    if (status == ~0u)
        dev_lost(s->dev);
    return status == ~0u ? -ENODEV : status & SUMMER_STATUS_BUSY ? -EBUSY : 0;
}

/*
 * Sleeps until the interrupt has come, for a tenth of a second at most, or until a signal does.
 * A signal does not stop the device, whose interrupt must not end the next operation: most are over
 * within a millisecond.
 */
static long wait_for_end(struct summer *s)
{
    u64 deadline = time_now() + TICKS_PER_SEC / 10;
    long err = 0;

    while (!err && !atomic_load(&s->status) && !dev_gone(s->dev))
        err = wait_event_timeout(&s->wait, atomic_load(&s->status) || dev_gone(s->dev), deadline);
    deadline = time_now() + TICKS_PER_SEC / 1000;
    while (err && !atomic_load(&s->status) && !dev_gone(s->dev) && time_now() < deadline)
        ;
    s->left = !atomic_load(&s->status);
    return err;
}

/* Adds up n numbers; needs the lock. */
static int add_up(struct summer *s, u32 n, u32 *sum)
{
    int err = check_idle(s);
    u32 status;

    if (err)
        return err;
    atomic_store(&s->status, 0);
    mmio_write64(s->regs + SUMMER_ADDRESS, dma_addr(s->numbers));
    mmio_write32(s->regs + SUMMER_COUNT, n);
    err = (int)wait_for_end(s);
    status = atomic_load(&s->status);
    if (dev_gone(s->dev))
        return -ENODEV;
    if (!status)
        return err == -ETIMEDOUT ? -EIO : err;
    if (!(status & SUMMER_STATUS_DONE))
        return -EINVAL;
    *sum = mmio_read32(s->regs + SUMMER_SUM);
    return 0;
}

static i64 summer_write(struct file *file, struct iter *from, i64 *pos)
{
    struct summer *s = file->priv;
    u32 sum = 0;
    int err = -EFAULT;
    u64 n;

    if (from->left > BYTES_MAX || from->left % 4)
        return -EINVAL;
    mutex_lock(&s->lock);
    n = from->left;
    if (iter_get(from, s->numbers, n) == n)
        err = add_up(s, (u32)n / 4, &sum);
    mutex_unlock(&s->lock);
    file->pos = sum; /* every open file has a sum of its own */
    return err ? err : (i64)n;
}

static i64 summer_read(struct file *file, struct iter *to, i64 *pos)
{
    u32 sum = (u32)file->pos;

    return iter_put(to, &sum, sizeof(sum)) == sizeof(sum) ? (i64)sizeof(sum) : -EFAULT;
}

static const struct file_ops summer_ops = {.read = summer_read, .write = summer_write};

static int summer_probe(struct device *dev)
{
    struct summer *s = dev_zalloc(dev, sizeof(*s));
    int err;

    if (!s)
        return -ENOMEM;
    dev->priv = s;
    s->dev = dev;
    mutex_init(&s->lock, "summer");
    s->regs = dev_ioremap(dev, 0);
    if (!s->regs)
        return -EBUSY;
    if (mmio_read32(s->regs + SUMMER_ID) != 0x73756d31)
        return -ENODEV;
    s->numbers = dev_dma_alloc(dev, BYTES_MAX);
    if (!s->numbers)
        return -ENOMEM;
    if ((err = dev_waitq(dev, &s->wait)) || (err = dev_irq(dev, summer_interrupt, s)))
        return err;
    return dev_node(dev, "summer", &summer_ops, 0666, MKDEV(10, 200), s);
}

DRIVER(summer){.match = MATCH_TREE(SUMMER_COMPATIBLE), .probe = summer_probe};

KTEST(it_adds_up)
{
    u32 numbers[] = {1, 2, 39}, sum = 0;
    struct file *f;

    if (vfs_open("/dev/summer", O_RDWR, 0, &f))
        KTEST_SKIP(test, "no such device on this board");
    EXPECT_EQ(test, file_write_at(f, numbers, sizeof(numbers), 0), sizeof(numbers));
    EXPECT_EQ(test, file_read_at(f, &sum, sizeof(sum), 0), sizeof(sum));
    EXPECT_EQ(test, sum, 42);
    file_put(f);
}

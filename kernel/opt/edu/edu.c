/*
 * edu.c: driver of the teaching device, a model for other drivers: registers, operations that take
 * time, an interrupt, DMA, and completion in a task on behalf of the caller.
 *
 *     system call            start the operation, record its origin, sleep
 *     interrupt handler      read and acknowledge the device, queue the task
 *     task (kernel thread)   take the result, wake the sleeper
 *
 * The device does one operation at a time: the caller holds edu->lock (mutex) from start to result.
 * edu->done_lock protects the data that handler and task share. The device may be removed at any
 * time: sleepers then get -ENODEV, and the driver model releases the resources of probe (driver.h).
 */
#include "abi/edu.h"
#include "abi/errno.h"
#include "dev/edu.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "kcov.h"
#include "klib.h"
#include "poll.h"
#include "riscv.h"
#include "taskq.h"
#include "timeout.h"

struct edu {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    u8 *dma;           /* (lock) a page the device can reach */
    struct spinlock done_lock;
    bool busy, done;           /* (done_lock) a caller waits; the result is there */
    u32 result;                /* (done_lock) */
    bool failed;               /* (done_lock) */
    struct work_origin origin; /* (done_lock) the process that started the operation */
    struct task task;
    struct waitq wait;
};

static u32 get(struct edu *e, u32 reg)
{
    return mmio_read32(e->regs + reg);
}

static void set(struct edu *e, u32 reg, u32 value)
{
    mmio_write32(e->regs + reg, value);
}

/*
 * Acknowledges the interrupt and queues the task if a caller still waits. The registers of a device
 * that was removed read as all ones.
 */
static void acknowledge(struct edu *e)
{
    u32 why = get(e, INTERRUPT_STATUS);

    if (why == ~0u) {
        dev_lost(e->dev);
        return;
    }
    set(e, ACKNOWLEDGE, why);
    spin_lock(&e->done_lock);
    if (why && e->busy)
        task_add_for(system_taskq, &e->task, &e->origin);
    spin_unlock(&e->done_lock);
}

/* Coverage of the handler goes to the process that started the operation, like that of the task. */
static void edu_interrupt(u32 source, void *arg)
{
    struct edu *e = arg;
    struct work_origin origin;

    spin_lock(&e->done_lock);
    origin = e->origin;
    spin_unlock(&e->done_lock);
    kcov_remote_enter(&origin, false);
    acknowledge(e);
    kcov_remote_leave();
}

/* The task: takes the result, in a kernel thread. */
static void edu_complete(void *arg)
{
    struct edu *e = arg;
    u32 status = get(e, STATUS), result = get(e, FACTORIAL);

    spin_lock(&e->done_lock);
    e->result = result;
    e->failed = status & STATUS_ERROR;
    e->done = true;
    spin_unlock(&e->done_lock);
    if (status & STATUS_ERROR)
        set(e, STATUS, STATUS_ERROR | STATUS_IRQ); /* writing 1 clears it */
    wake_up(&e->wait);
}

static void begin(struct edu *e)
{
    spin_lock(&e->done_lock);
    work_origin_capture(&e->origin);
    e->busy = true;
    e->done = false;
    spin_unlock(&e->done_lock);
}

/* Waits until the device is idle; false when it is still busy after 10 ms. */
static bool is_idle(struct edu *e)
{
    u64 deadline = time_now() + TICKS_PER_SEC / 100;
    u32 status;

    while ((status = get(e, STATUS)) & STATUS_BUSY && status != ~0u)
        if (time_now() > deadline)
            return false;
    return true;
}

/*
 * Ends an operation whose caller was interrupted. It may still write to e->dma, and the next
 * operation must not take its interrupt and its task for its own.
 */
static void abandon(struct edu *e)
{
    if (!is_idle(e))
        kprintf("%s: does not end its work\n", e->dev->name);
    set(e, ACKNOWLEDGE, ~0u);
    task_del(&e->task);
    taskq_barrier(system_taskq);
}

/* Sleeps until the task has run or the device goes; no operation of the device takes a second. */
static int finish(struct edu *e)
{
    u64 deadline = time_now() + TICKS_PER_SEC;
    long err = 0;
    bool done;

    while (!err && !atomic_load(&e->done) && !dev_gone(e->dev))
        err = wait_event_timeout(&e->wait, atomic_load(&e->done) || dev_gone(e->dev), deadline);
    spin_lock(&e->done_lock);
    e->busy = false;
    done = e->done;
    spin_unlock(&e->done_lock);
    if (!done)
        abandon(e);
    wake_up_events(&e->wait, POLLIN | POLLOUT);
    return done ? e->failed ? -EIO : 0 : err ? (int)err : -ENODEV;
}

static int factorial(struct edu *e, u32 *n)
{
    int err;

    mutex_lock(&e->lock);
    begin(e);
    set(e, FACTORIAL, *n);
    err = finish(e);
    if (!err)
        *n = e->result;
    mutex_unlock(&e->lock);
    return err;
}

/* Moves n bytes between e->dma and the device's buffer at offset. Needs e->lock. */
static int transfer(struct edu *e, u32 offset, u32 n, bool to_memory)
{
    u64 mem = dma_addr(e->dma), device = DEVICE_BUFFER + offset;

    begin(e);
    mmio_write64(e->regs + DMA_SOURCE, to_memory ? device : mem);
    mmio_write64(e->regs + DMA_TARGET, to_memory ? mem : device);
    mmio_write64(e->regs + DMA_COUNT, n);
    mmio_write64(e->regs + DMA_COMMAND, DMA_START | DMA_IRQ | (to_memory ? DMA_TO_MEMORY : 0));
    return finish(e);
}

static i64 edu_read(struct file *file, struct iter *to, i64 *pos)
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

static i64 edu_write(struct file *file, struct iter *from, i64 *pos)
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

static i64 edu_lseek(struct file *file, i64 offset, int whence)
{
    if (whence < 0 || whence > 2)
        return -EINVAL;
    offset = seek_from(whence == 1 ? file->pos : whence == 2 ? EDU_BUFFER_BYTES : 0, offset);
    return offset < 0 ? offset : (file->pos = offset);
}

static long edu_command(struct file *file, u32 cmd, void *data)
{
    struct edu *e = file->priv;

    switch (cmd) {
    case EDU_FACTORIAL:
        return factorial(e, data);
    case EDU_ID:
        *(u32 *)data = get(e, ID);
        return 0;
    default:
        return -ENOTTY;
    }
}

static long edu_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_linux_encoded(file, cmd, arg, edu_command);
}

static u32 edu_poll(struct file *file, struct poll_table *pt)
{
    struct edu *e = file->priv;

    poll_wait(pt, &e->wait);
    return atomic_load(&e->busy) ? 0 : POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
}

static const struct file_ops edu_ops = {
    .read = edu_read,
    .write = edu_write,
    .ioctl = edu_ioctl,
    .lseek = edu_lseek,
    .poll = edu_poll,
};

/* ID and LIVENESS (which reads as its complement) answer as this device's must. */
static bool is_edu(struct edu *e)
{
    set(e, LIVENESS, 0x12345678);
    return get(e, ID) == ID_VALUE && get(e, LIVENESS) == ~0x12345678u;
}

/* It returns at the first error: the driver model releases the resources acquired before. */
static int edu_probe(struct device *dev)
{
    struct edu *e = dev_zalloc(dev, sizeof(*e));
    int err;

    if (!e)
        return -ENOMEM;
    dev->priv = e;
    e->dev = dev;
    mutex_init(&e->lock, "edu");
    spin_init(&e->done_lock, "edu.done");
    e->regs = dev_ioremap(dev, 0);
    if (!e->regs)
        return -EBUSY;
    if (!is_edu(e) || !is_idle(e))
        return -ENODEV;
    set(e, ACKNOWLEDGE, ~0u); /* interrupts that an earlier driver left pending */
    e->dma = dev_dma_alloc(dev, EDU_BUFFER_BYTES);
    if (!e->dma)
        return -ENOMEM;
    if ((err = dev_waitq(dev, &e->wait)) || (err = dev_task(dev, &e->task, edu_complete, e)) ||
        (err = dev_irq(dev, edu_interrupt, e)))
        return err;
    set(e, STATUS, STATUS_IRQ);
    return dev_node(dev, "edu", &edu_ops, 0666, MKDEV(10, 63), e); /* last: programs may open it */
}

static void edu_remove(struct device *dev)
{
    struct edu *e = dev->priv;

    set(e, STATUS, 0); /* no more interrupts; a caller in finish() abandons its operation itself */
}

DRIVER(edu){.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe, .remove = edu_remove};

/*
 * edu.c: driver of the teaching device, written to be copied: it has registers, work that takes
 * time, an interrupt, DMA, and completion in a task that runs on behalf of whoever asked.
 *
 *     system call            start the work, remember for whom, sleep
 *     interrupt handler      read and acknowledge the device, queue the task
 *     task (kernel thread)   take the result, wake the sleeper
 *
 * One piece of work at a time: edu->lock (mutex) is held from start to result. What handler and
 * task share is covered by edu->done_lock. Registers: those of QEMU's device of the same name
 * (docs/specs/edu), see devices/edu.ts.
 */
#include "abi/edu.h"
#include "abi/errno.h"
#include "alloc.h"
#include "dev.h"
#include "file.h"
#include "fs.h"
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "poll.h"
#include "riscv.h"
#include "taskq.h"
#include "timeout.h"

enum reg {
    ID = 0x00,
    LIVENESS = 0x04,
    FACTORIAL = 0x08,
    STATUS = 0x20,
    INTERRUPT_STATUS = 0x24,
    ACKNOWLEDGE = 0x64,
    DMA_SOURCE = 0x80,
    DMA_TARGET = 0x88,
    DMA_COUNT = 0x90,
    DMA_COMMAND = 0x98,
};

#define ID_VALUE      0x010000ed
#define STATUS_ERROR  0x02
#define STATUS_IRQ    0x80
#define DMA_START     1
#define DMA_TO_MEMORY 2
#define DMA_IRQ       4
#define DEVICE_BUFFER 0x40000 /* address of the device's buffer in DMA registers */

struct edu {
    struct device *dev;
    struct mutex lock; /* one user at a time */
    u8 *dma;           /* (lock) a page the device can reach */
    struct spinlock done_lock;
    bool busy, done;           /* (done_lock) */
    u32 result;                /* (done_lock) */
    bool failed;               /* (done_lock) */
    struct work_origin origin; /* who started the work */
    struct task task;
    struct waitq wait;
};

static u32 get(struct edu *e, u32 reg)
{
    return mmio_read32(e->dev->regs + reg);
}

static void set(struct edu *e, u32 reg, u32 value)
{
    mmio_write32(e->dev->regs + reg, value);
}

/* Acknowledges and defers. */
static void acknowledge(struct edu *e)
{
    u32 why = get(e, INTERRUPT_STATUS);

    set(e, ACKNOWLEDGE, why);
    if (why)
        task_add_for(system_taskq, &e->task, &e->origin);
}

/* Coverage of the handler belongs to whoever started the work, as that of the task does. */
static void edu_interrupt(u32 source, void *arg)
{
    struct edu *e = arg;

    kcov_remote_enter(&e->origin, false);
    acknowledge(e);
    kcov_remote_leave();
}

/* The deferred half, in a kernel thread. */
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
    work_origin_capture(&e->origin);
    spin_lock(&e->done_lock);
    e->busy = true;
    e->done = false;
    spin_unlock(&e->done_lock);
}

/* Sleeps until the task has run; a second is for ever for this device. */
static int finish(struct edu *e)
{
    u64 deadline = time_now() + TICKS_PER_SEC;
    long err = 0;

    while (!err && !atomic_load(&e->done))
        err = wait_event_timeout(&e->wait, atomic_load(&e->done), deadline);
    spin_lock(&e->done_lock);
    e->busy = false;
    if (e->done)
        err = e->failed ? -EIO : 0;
    spin_unlock(&e->done_lock);
    wake_up_events(&e->wait, POLLIN | POLLOUT);
    return (int)err;
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
    mmio_write64(e->dev->regs + DMA_SOURCE, to_memory ? device : mem);
    mmio_write64(e->dev->regs + DMA_TARGET, to_memory ? mem : device);
    mmio_write64(e->dev->regs + DMA_COUNT, n);
    mmio_write64(e->dev->regs + DMA_COMMAND, DMA_START | DMA_IRQ | (to_memory ? DMA_TO_MEMORY : 0));
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
    if (whence)
        offset += whence == 1 ? file->pos : EDU_BUFFER_BYTES;
    return offset < 0 || whence > 2 ? -EINVAL : (file->pos = offset);
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

static int edu_open(struct inode *inode, struct file *file)
{
    file->priv = inode->dev_priv;
    return 0;
}

static const struct file_ops edu_ops = {
    .open = edu_open,
    .read = edu_read,
    .write = edu_write,
    .ioctl = edu_ioctl,
    .lseek = edu_lseek,
    .poll = edu_poll,
};

static int edu_probe(struct device *dev)
{
    struct edu *e = kzalloc(sizeof(*e));
    int err;

    if (!e)
        return -ENOMEM;
    e->dev = dev;
    mutex_init(&e->lock, "edu");
    spin_init(&e->done_lock, "edu.done");
    waitq_init(&e->wait);
    task_init(&e->task, edu_complete, e);
    set(e, LIVENESS, 0x12345678);
    err = -ENODEV;
    if (get(e, ID) != ID_VALUE || get(e, LIVENESS) != ~0x12345678u)
        goto free_driver;
    err = -ENOMEM;
    e->dma = dma_alloc(EDU_BUFFER_BYTES);
    if (!e->dma)
        goto free_driver;
    err = irq_register(dev->irq, edu_interrupt, e);
    if (err)
        goto free_buffer;
    set(e, STATUS, STATUS_IRQ);
    err = devfs_register_dev("edu", &edu_ops, 0666, MKDEV(10, 63), e);
    if (!err)
        return 0; /* from here on, programs may use it */
    set(e, STATUS, 0);
    irq_unregister(dev->irq, edu_interrupt, e); /* then the handler queues no task any more */
    taskq_barrier(system_taskq);                /* and what it queued has run */
free_buffer:
    dma_free(e->dma, EDU_BUFFER_BYTES);
free_driver:
    kfree(e);
    return err;
}

const struct driver edu_driver = {"edu", "kcovbox,edu", edu_probe};

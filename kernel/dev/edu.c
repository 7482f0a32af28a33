/*
 * edu.c: driver of the teaching device, a model for other drivers: registers, operations that take
 * time, an interrupt, and completion in a task on behalf of the caller; DMA is in opt/edudma.
 *
 *     system call            start the operation, record its origin, sleep
 *     interrupt handler      read and acknowledge the device, queue the task
 *     task (kernel thread)   take the result, wake the sleeper
 *
 * The device does one operation at a time: the caller holds edu->lock (mutex) from start to result.
 * edu->done_lock protects the data that handler and task share. The device may be removed at any
 * time: sleepers then get -ENODEV, and the driver model releases the resources of probe (driver.h).
 * The registers are those of QEMU's device of the same name (docs/specs/edu); see devices/edu.ts.
 */
#include "abi/errno.h"
#include "dev/edu.h"
#include "fs.h"
#include "kcov.h"
#include "klib.h"
#include "poll.h"
#include "riscv.h"
#include "timeout.h"

enum reg {
    ID = 0x00,
    LIVENESS = 0x04,
    FACTORIAL = 0x08,
    STATUS = 0x20,
    INTERRUPT_STATUS = 0x24,
    ACKNOWLEDGE = 0x64,
};

#define ID_VALUE     0x010000ed
#define STATUS_BUSY  0x01
#define STATUS_ERROR 0x02
#define STATUS_IRQ   0x80

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

void edu_begin(struct edu *e)
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
int edu_finish(struct edu *e)
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
    edu_begin(e);
    set(e, FACTORIAL, *n);
    err = edu_finish(e);
    if (!err)
        *n = e->result;
    mutex_unlock(&e->lock);
    return err;
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

static const struct file_ops edu_ops = {
    .read = IF_OPTION(CONFIG_EDU_DMA, edu_read),
    .write = IF_OPTION(CONFIG_EDU_DMA, edu_write),
    .ioctl = edu_ioctl,
    .lseek = IF_OPTION(CONFIG_EDU_DMA, edu_lseek),
    .poll = IF_OPTION(CONFIG_EDU_DMA, edu_poll),
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
    if ((err = edu_buffer_init(dev, e)) || (err = dev_waitq(dev, &e->wait)) ||
        (err = dev_task(dev, &e->task, edu_complete, e)) || (err = dev_irq(dev, edu_interrupt, e)))
        return err;
    set(e, STATUS, STATUS_IRQ);
    return dev_node(dev, "edu", &edu_ops, 0666, MKDEV(10, 63), e); /* last: programs may open it */
}

static void edu_remove(struct device *dev)
{
    struct edu *e = dev->priv;

    set(e, STATUS,
        0); /* no more interrupts; a caller in edu_finish() abandons its operation itself */
}

DRIVER(edu){.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe, .remove = edu_remove};

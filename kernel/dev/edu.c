/*
 * edu.c: driver of the teaching device, a model for other drivers: registers, an operation that
 * takes time, an interrupt, and completion in a task on behalf of the caller.
 *
 *     system call            start the operation, record its origin, sleep
 *     interrupt handler      acknowledge, queue the task
 *     task (kernel thread)   take the result, wake the sleeper
 *
 * It believes that the device answers. The option EDU puts opt/edu/edu.c in its place, which
 * survives a device that fails or goes, and moves data by DMA.
 */
#include "abi/edu.h"
#include "abi/errno.h"
#include "dev/edu.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "kcov.h"
#include "lock.h"
#include "riscv.h"

#ifndef CONFIG_EDU

/* The caller holds the lock from start to result, so one operation uses all of it. */
struct edu {
    volatile u8 *regs;
    struct mutex lock;
    struct work_origin origin; /* the process that started the operation */
    struct task task;
    struct waitq wait;
    u32 result;
    bool done; /* stored behind the result */
};

static u32 get(struct edu *e, u32 reg)
{
    return mmio_read32(e->regs + reg);
}

static void set(struct edu *e, u32 reg, u32 value)
{
    mmio_write32(e->regs + reg, value);
}

/* Coverage of the handler goes to the process that started the operation, like that of the task. */
static void edu_interrupt(u32 source, void *arg)
{
    struct edu *e = arg;
    u32 why;

    kcov_remote_enter(&e->origin, false);
    why = get(e, INTERRUPT_STATUS);
    set(e, ACKNOWLEDGE, why);
    if (why)
        task_add_for(system_taskq, &e->task, &e->origin);
    kcov_remote_leave();
}

/* The task: takes the result, in a kernel thread. */
static void edu_complete(void *arg)
{
    struct edu *e = arg;

    e->result = get(e, FACTORIAL);
    atomic_store(&e->done, true);
    wake_up(&e->wait);
}

static void factorial(struct edu *e, u32 *n)
{
    mutex_lock(&e->lock);
    work_origin_capture(&e->origin);
    e->done = false;
    set(e, FACTORIAL, *n);
    wait_event(&e->wait, atomic_load(&e->done));
    *n = e->result;
    mutex_unlock(&e->lock);
}

static long edu_command(struct file *file, u32 cmd, void *data)
{
    struct edu *e = file->priv;

    switch (cmd) {
    case EDU_FACTORIAL:
        factorial(e, data);
        return 0;
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

static const struct file_ops edu_ops = {.ioctl = edu_ioctl};

/* ID and LIVENESS (which reads as its complement) answer as this device's must. */
static bool is_edu(struct edu *e)
{
    set(e, LIVENESS, 0x12345678);
    return get(e, ID) == ID_VALUE && get(e, LIVENESS) == ~0x12345678u;
}

static int edu_probe(struct device *dev)
{
    struct edu *e = dev_zalloc(dev, sizeof(*e));
    int err;

    if (!e)
        return -ENOMEM;
    mutex_init(&e->lock, "factorial");
    e->regs = dev_ioremap(dev, 0);
    if (!e->regs)
        return -EBUSY;
    if (!is_edu(e))
        return -ENODEV;
    if ((err = dev_waitq(dev, &e->wait)) || (err = dev_task(dev, &e->task, edu_complete, e)) ||
        (err = dev_irq(dev, edu_interrupt, e)))
        return err;
    set(e, STATUS, STATUS_IRQ);
    return dev_node(dev, "edu", &edu_ops, 0666, MKDEV(10, 63), e); /* last: programs may open it */
}

DRIVER(edu){.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe};

#endif

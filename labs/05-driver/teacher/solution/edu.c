/* edu.c: driver of the teaching device: factorials, by interrupt. */
#include "abi/edu.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "wait.h"

enum reg {
    ID = 0x00,
    FACTORIAL = 0x08,
    STATUS = 0x20,
    INTERRUPT_STATUS = 0x24,
    ACKNOWLEDGE = 0x64,
};

#define STATUS_IRQ 0x80

struct edu {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    bool done;         /* atomic: the interrupt of the operation has come */
    struct waitq wait;
};

static u32 get(struct edu *e, enum reg reg)
{
    return mmio_read32(e->regs + reg);
}

static void set(struct edu *e, enum reg reg, u32 value)
{
    mmio_write32(e->regs + reg, value);
}

static void edu_interrupt(u32 source, void *arg)
{
    struct edu *e = arg;
    u32 why = get(e, INTERRUPT_STATUS);

    if (!why)
        return;
    set(e, ACKNOWLEDGE, why);
    atomic_store(&e->done, true);
    wake_up(&e->wait);
}

static long factorial(struct edu *e, u32 *n)
{
    mutex_lock(&e->lock);
    atomic_store(&e->done, false);
    set(e, FACTORIAL, *n);
    wait_event(&e->wait, atomic_load(&e->done)); /* it takes less than a millisecond */
    *n = get(e, FACTORIAL);
    mutex_unlock(&e->lock);
    return 0;
}

/* data is the argument of the ioctl in kernel memory; it is copied back behind this. */
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

static const struct file_ops edu_ops = {.ioctl = edu_ioctl};

static int edu_probe(struct device *dev)
{
    struct edu *e = dev_zalloc(dev, sizeof(*e));
    int err;

    if (!e)
        return -ENOMEM;
    dev->priv = e;
    e->dev = dev;
    mutex_init(&e->lock, "edu");
    e->regs = dev_ioremap(dev, 0);
    if (!e->regs)
        return -EBUSY;
    set(e, ACKNOWLEDGE, ~0u);
    if ((err = dev_waitq(dev, &e->wait)) || (err = dev_irq(dev, edu_interrupt, e)))
        return err;
    set(e, STATUS, STATUS_IRQ);
    return dev_node(dev, "edu", &edu_ops, 0666, MKDEV(10, 63), e);
}

DRIVER(edu){.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe};

/*
 * edu.c: driver of the teaching device: factorials, by interrupt, and a history of results. The
 * handler does all the work.
 */
#include "abi/edu.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "taskq.h"
#include "wait.h"

enum reg {
    ID = 0x00,
    FACTORIAL = 0x08,
    STATUS = 0x20,
    INTERRUPT_STATUS = 0x24,
    ACKNOWLEDGE = 0x64,
};

#define STATUS_IRQ 0x80
#define HISTORY    16

struct edu {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one operation at a time */
    bool done;         /* atomic: the result of the operation is there */
    u32 result;        /* of the operation */
    struct waitq wait;
    struct mutex history_lock; /* readers copy the history out, and may sleep meanwhile */
    u32 history[HISTORY];      /* (history_lock) the last results, the oldest first */
    u32 nhistory;              /* (history_lock) */
};

static u32 get(struct edu *e, enum reg reg)
{
    return mmio_read32(e->regs + reg);
}

static void set(struct edu *e, enum reg reg, u32 value)
{
    mmio_write32(e->regs + reg, value);
}

/* Appends a result; the oldest makes room for it. May sleep. */
static void note(struct edu *e, u32 result)
{
    mutex_lock(&e->history_lock);
    if (e->nhistory == HISTORY)
        memmove(e->history, e->history + 1, (HISTORY - 1) * sizeof(u32));
    else
        e->nhistory++;
    e->history[e->nhistory - 1] = result;
    mutex_unlock(&e->history_lock);
}

static void edu_interrupt(u32 source, void *arg)
{
    struct edu *e = arg;
    u32 why = get(e, INTERRUPT_STATUS);

    if (!why)
        return;
    set(e, ACKNOWLEDGE, why);
    e->result = get(e, FACTORIAL);
    note(e, e->result);
    atomic_store(&e->done, true);
    wake_up(&e->wait);
}

static long factorial(struct edu *e, u32 *n)
{
    mutex_lock(&e->lock);
    atomic_store(&e->done, false);
    set(e, FACTORIAL, *n);
    wait_event(&e->wait, atomic_load(&e->done)); /* it takes less than a millisecond */
    *n = e->result;
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

/* The history; needs room for all of it. */
static i64 edu_read(struct file *file, struct iter *to, i64 *pos)
{
    struct edu *e = file->priv;
    i64 n = -EINVAL;

    if (to->left < sizeof(e->history))
        return n;
    mutex_lock(&e->history_lock);
    n = (i64)(e->nhistory * sizeof(u32));
    if (iter_put(to, e->history, (u64)n) != (u64)n)
        n = -EFAULT;
    mutex_unlock(&e->history_lock);
    return n;
}

static const struct file_ops edu_ops = {.ioctl = edu_ioctl, .read = edu_read};

static int edu_probe(struct device *dev)
{
    struct edu *e = dev_zalloc(dev, sizeof(*e));
    int err;

    if (!e)
        return -ENOMEM;
    dev->priv = e;
    e->dev = dev;
    mutex_init(&e->lock, "edu");
    mutex_init(&e->history_lock, "edu history");
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

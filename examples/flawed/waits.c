/*
 * Flawed on purpose: a driver of thermo.ts that believes in interrupts. It sleeps until one comes,
 * without a deadline. The fault that shows it: thermo:irq-drop@1, a hang.
 */
#include "thermo.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "timeout.h"

#define ID       0x74776931
#define SENSOR   0x48
#define TRIES    3
#define TEXT_MAX 16
#define COLDEST  (-5500)
#define HOTTEST  12500

struct thermo {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one transaction at a time */
    u32 status;        /* seen by the interrupt; 0: nothing yet */
    struct waitq wait;
};

/* Takes what has ended; true when something has. Any context. */
static bool collect(struct thermo *t)
{
    u32 status = mmio_read32(t->regs + THERMO_STATUS);
    u32 ended = status & (THERMO_STATUS_DONE | THERMO_STATUS_NACK);

    if (status == ~0u) { /* nothing answers any more */
        dev_lost(t->dev);
        return false;
    }
    if (!ended)
        return false;
    mmio_write32(t->regs + THERMO_STATUS, ended);
    atomic_store(&t->status, ended);
    return true;
}

static void thermo_interrupt(u32 source, void *arg)
{
    struct thermo *t = arg;

    if (collect(t))
        wake_up(&t->wait);
}

/* One transaction: hundredths of a degree in *value. An interrupt that is lost costs WAIT. */
static int transact(struct thermo *t, i32 *value)
{
    u32 status;

    atomic_store(&t->status, 0);
    mmio_write32(t->regs + THERMO_TARGET, SENSOR);
    mmio_write32(t->regs + THERMO_START, 1);
    wait_event(&t->wait, atomic_load(&t->status) || dev_gone(t->dev)); /* the flaw */
    status = atomic_load(&t->status);
    if (dev_gone(t->dev))
        return -ENODEV;
    if (!(status & THERMO_STATUS_DONE) || mmio_read32(t->regs + THERMO_LENGTH) != 2)
        return -EIO;
    *value = (i16)mmio_read32(t->regs + THERMO_DATA);
    return *value < COLDEST || *value > HOTTEST ? -EIO : 0;
}

static i64 thermo_read(struct file *file, struct iter *to, i64 *pos)
{
    struct thermo *t = file->priv;
    char text[TEXT_MAX];
    i32 value = 0;
    int err = -EIO;
    u64 n;

    if (*pos > 0)
        return 0;
    mutex_lock(&t->lock);
    for (int i = 0; i < TRIES && err == -EIO; i++)
        err = transact(t, &value);
    mutex_unlock(&t->lock);
    if (err)
        return err;
    ksnprintf(text, sizeof(text), "%s%d.%02d\n", value < 0 ? "-" : "",
              (value < 0 ? -value : value) / 100, (value < 0 ? -value : value) % 100);
    n = iter_put(to, text, MIN(to->left, strlen(text)));
    *pos += (i64)n;
    return n ? (i64)n : -EFAULT;
}

static const struct file_ops thermo_ops = {.read = thermo_read};

static int thermo_probe(struct device *dev)
{
    struct thermo *t = dev_zalloc(dev, sizeof(*t));
    int err;

    if (!t)
        return -ENOMEM;
    dev->priv = t;
    t->dev = dev;
    mutex_init(&t->lock, "thermo");
    t->regs = dev_ioremap(dev, 0);
    if (!t->regs)
        return -EBUSY;
    if (mmio_read32(t->regs + THERMO_ID) != ID)
        return -ENODEV;
    if ((err = dev_waitq(dev, &t->wait)) || (err = dev_irq(dev, thermo_interrupt, t)))
        return err;
    return dev_node(dev, "thermo", &thermo_ops, 0444, MKDEV(10, 201), t);
}

DRIVER(thermo){.match = MATCH_TREE(THERMO_COMPATIBLE), .probe = thermo_probe};

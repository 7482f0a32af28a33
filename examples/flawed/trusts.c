/*
 * Flawed on purpose: a driver of thermo.ts that believes the device's length, and copies so many
 * bytes to a buffer of two. The fault that shows it: thermo:read-ones@3, with --kasan a report.
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
#define WAIT     (TICKS_PER_SEC / 100)
#define TEXT_MAX 16
#define COLDEST  (-5500)
#define HOTTEST  12500

struct thermo {
    struct device *dev;
    volatile u8 *regs;
    struct mutex lock; /* one transaction at a time */
    u32 status;        /* seen by the interrupt; 0: nothing yet */
    struct waitq wait;
    u8 *bytes; /* (lock) of the last transaction */
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
    u64 deadline = time_now() + WAIT;
    u32 status;

    atomic_store(&t->status, 0);
    mmio_write32(t->regs + THERMO_TARGET, SENSOR);
    mmio_write32(t->regs + THERMO_START, 1);
    while (!atomic_load(&t->status) && !dev_gone(t->dev) && time_now() < deadline)
        wait_event_timeout(&t->wait, atomic_load(&t->status) || dev_gone(t->dev), deadline);
    if (!atomic_load(&t->status) && !collect(t) && !dev_gone(t->dev))
        return mmio_read32(t->regs + THERMO_STATUS) & THERMO_STATUS_BUSY ? -ETIMEDOUT : -EIO;
    status = atomic_load(&t->status);
    if (dev_gone(t->dev))
        return -ENODEV;
    if (!(status & THERMO_STATUS_DONE))
        return -EIO;
    u32 length = mmio_read32(t->regs + THERMO_LENGTH) & 0xff,
        data = mmio_read32(t->regs + THERMO_DATA);
    for (u32 i = 0; i < length; i++) /* the flaw */
        t->bytes[i] = (u8)(data >> (8 * (i % 4)));
    *value = (i16)(t->bytes[0] | t->bytes[1] << 8);
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
    t->bytes = dev_zalloc(dev, 2);
    if (!t->bytes)
        return -ENOMEM;
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

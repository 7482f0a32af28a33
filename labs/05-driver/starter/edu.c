/* edu.c: driver of the teaching device. The text has its register page. */
#include "abi/edu.h"
#include "abi/errno.h"
#include "driver.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "wait.h"

struct edu {
    struct device *dev;
    volatile u8 *regs; /* mmio_read32(e->regs + OFFSET), mmio_write32(e->regs + OFFSET, value) */
};

/* data is the argument of the ioctl in kernel memory; it is copied back behind this. */
static long edu_command(struct file *file, u32 cmd, void *data)
{
    return -ENOTTY;
}

static long edu_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_linux_encoded(file, cmd, arg, edu_command);
}

static const struct file_ops edu_ops = {.ioctl = edu_ioctl};

/* It returns at the first error: the driver model releases what was acquired before. */
static int edu_probe(struct device *dev)
{
    struct edu *e = dev_zalloc(dev, sizeof(*e));

    if (!e)
        return -ENOMEM;
    dev->priv = e;
    e->dev = dev;
    e->regs = dev_ioremap(dev, 0);
    if (!e->regs)
        return -EBUSY;
    return dev_node(dev, "edu", &edu_ops, 0666, MKDEV(10, 63), e); /* last: programs may open it */
}

DRIVER(edu){.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe};

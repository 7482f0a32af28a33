/*
 * driver.c: the driver model of a kernel whose devices never go: each is bound once, at boot, and
 * keeps what its driver acquired, even if the probe fails later. The option HOTPLUG puts
 * opt/hotplug in its place.
 */
#include "driver.h"
#include "abi/errno.h"
#include "alloc.h"
#include "fdt.h"
#include "file.h"
#include "fs.h"
#include "klib.h"

#ifndef CONFIG_HOTPLUG

void drivers_probe(void)
{
    tree_scan();
}

void tree_found(const struct driver_row *row, int node)
{
    struct device *dev = kzalloc(sizeof(*dev));
    int err = -ENOMEM;

    if (dev) {
        strlcpy(dev->name, fdt_node_name(node), sizeof(dev->name));
        dev->fdt_node = node;
        dev->irq = fdt_irq(node);
        err = row->driver->probe(dev);
    }
    if (err && err != -ENODEV)
        kprintf("%s: %s: probe failed: errno %d\n", fdt_node_name(node), row->name, -err);
}

void *dev_zalloc(struct device *dev, u64 bytes)
{
    return kzalloc(bytes);
}

/* The linear map covers all registers. */
volatile u8 *dev_ioremap(struct device *dev, u32 n)
{
    u64 pa;

    return fdt_reg(dev->fdt_node, (int)n, &pa, NULL) ? pa_to_va(pa) : NULL;
}

void *dev_dma_alloc(struct device *dev, u64 bytes)
{
    pa_t pa = page_alloc_contig(ALIGN_UP(bytes, PAGE_SIZE) >> PAGE_SHIFT);

    return pa ? pa_to_va(pa) : NULL;
}

int dev_waitq(struct device *dev, struct waitq *queue)
{
    waitq_init(queue);
    return 0;
}

int dev_task(struct device *dev, struct task *task, void (*fn)(void *arg), void *arg)
{
    task_init(task, fn, arg);
    return 0;
}

int dev_irq(struct device *dev, irq_handler fn, void *arg)
{
    return irq_register(dev->irq, dev->name, fn, arg);
}

int dev_node(struct device *dev, const char *name, const struct file_ops *ops, u32 mode, u64 rdev,
             void *priv)
{
    return devfs_register_dev(name, ops, mode, rdev, priv);
}

#endif

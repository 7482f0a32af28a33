/*
 * drivers.c: the list of drivers and the one pass over the device tree that probes them.
 * To add a driver: write dev/NAME.c with a struct driver, and add its row here.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "dev.h"
#include "fdt.h"
#include "klib.h"

static const struct driver *const drivers[] = {
    &uart_driver,
    &rtc_driver,
    &virtio_mmio_driver,
    &edu_driver,
};

static void probe_node(int node, const struct driver *drv)
{
    struct device *dev = kzalloc(sizeof(*dev));
    int err;

    if (!dev)
        return;
    dev->node = fdt_node_name(node);
    dev->compatible = drv->compatible;
    dev->fdt_node = node;
    dev->irq = fdt_irq(node);
    if (fdt_reg(node, 0, &dev->regs_pa, &dev->regs_size))
        dev->regs = pa_to_va(dev->regs_pa);
    err = dev->regs ? drv->probe(dev) : -EINVAL;
    if (err && err != -ENODEV)
        kprintf("%s: %s: probe failed: errno %d\n", dev->node, drv->name, -err);
    if (err)
        kfree(dev);
}

static bool enabled(int node)
{
    const char *status = fdt_prop_string(node, "status");

    return !status || !strcmp(status, "okay") || !strcmp(status, "ok");
}

void drivers_probe(void)
{
    int depth = 0;

    mem_devices_init();
    pty_init();
    for (int node = fdt_next_node(-1, &depth); node >= 0; node = fdt_next_node(node, &depth))
        for (u32 i = 0; i < ARRAY_LEN(drivers); i++)
            if (fdt_is_compatible(node, drivers[i]->compatible) && enabled(node)) {
                probe_node(node, drivers[i]);
                break;
            }
}

void *dma_alloc(u64 bytes)
{
    pa_t pa = page_alloc_contig(ALIGN_UP(bytes, PAGE_SIZE) >> PAGE_SHIFT);

    return pa ? pa_to_va(pa) : NULL;
}

void dma_free(void *buf, u64 bytes)
{
    if (buf)
        page_put_contig(va_to_pa(buf), ALIGN_UP(bytes, PAGE_SIZE) >> PAGE_SHIFT);
}

u64 dma_addr(const void *buf)
{
    return va_to_pa(buf);
}

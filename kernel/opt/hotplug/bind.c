/*
 * bind.c: binds devices to drivers. driver_lock protects all bindings; it comes before every lock
 * of a driver, and probe and remove run with it held. Devices are never freed and their list only
 * grows, so readers of the list need no lock.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "fdt.h"
#include "klib.h"
#include "proc.h"

struct mutex driver_lock = MUTEX_INIT(driver_lock, "driver");
static struct device *devices;

struct device *device_list(void)
{
    return atomic_load(&devices);
}

/* Runs the bus's probe, then the driver's; when one fails, both are undone. */
int device_probe(struct device *dev, const struct driver_row *row)
{
    int err;

    dev->binding = binding_new();
    if (!dev->binding)
        return -ENOMEM;
    dev->driver = row;
    err = dev->bus->probe ? dev->bus->probe(dev) : 0;
    if (!err) {
        err = row->driver->probe(dev);
        if (err && dev->bus->remove)
            dev->bus->remove(dev);
    }
    if (err)
        binding_end(dev);
    dev->deferred = err == -EPROBE_DEFER;
    if (err && err != -ENODEV && err != -EPROBE_DEFER)
        kprintf("%s: %s: probe failed: errno %d\n", dev->name, row->name, -err);
    return err;
}

static struct device *new_device(const struct bus *bus, const char *name)
{
    struct device *dev = kzalloc(sizeof(*dev)), **last = &devices;

    if (!dev)
        return NULL;
    dev->bus = bus;
    strlcpy(dev->name, name, sizeof(dev->name));
    device_may_go(dev);
    while (*last)
        last = &(*last)->next;
    atomic_store(last, dev);
    return dev;
}

struct device *device_add(const struct driver_row *row, const struct bus *bus,
                          struct device *parent, const char *name, int fdt_node, u32 irq, u32 id)
{
    struct device *dev = device_find(bus, name);

    KASSERT(mutex_held(&driver_lock));
    if (!dev)
        dev = new_device(bus, name);
    if (!dev || dev->present)
        return dev;
    dev->parent = parent;
    dev->fdt_node = fdt_node;
    dev->irq = irq;
    dev->id = id;
    dev->present = true;
    dev->deferred = false;
    if (probe_is_late(dev))
        return dev;
    if (row)
        device_probe(dev, row);
    else
        probe_any(dev);
    return dev;
}

void tree_found(const struct driver_row *row, int node)
{
    device_add(row, &tree_bus, NULL, fdt_node_name(node), node, fdt_irq(node), 0);
}

const struct bus tree_bus = {.name = "platform", .match = tree_match, .rescan = tree_scan};

void drivers_probe(void)
{
    mutex_lock(&driver_lock);
    tree_scan();
    devices_retry();
    mutex_unlock(&driver_lock);
}

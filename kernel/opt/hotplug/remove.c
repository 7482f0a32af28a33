/* remove.c: takes a device from its driver while its files may be open. */
#include "abi/errno.h"
#include "opt/hotplug/model.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"

static void lost(void *arg)
{
    mutex_lock(&driver_lock);
    device_del(arg, true);
    mutex_unlock(&driver_lock);
}

/* Removal, steps 1 to 4 of driver.h. */
int device_release(struct device *dev, bool is_lost)
{
    const struct driver *driver = dev->driver ? dev->driver->driver : NULL;

    if (!driver)
        return -ENODEV;
    if (driver->permanent)
        return -EBUSY;
    if (!is_lost && driver->shutdown)
        driver->shutdown(dev);
    atomic_store(&dev->binding->dead, true);
    if (driver->remove)
        driver->remove(dev);
    if (dev->bus->remove)
        dev->bus->remove(dev);
    binding_end(dev);
    return 0;
}

int device_del(struct device *dev, bool is_lost)
{
    int err = dev->driver ? device_release(dev, is_lost) : 0;

    KASSERT(mutex_held(&driver_lock));
    if (!err)
        dev->present = dev->deferred = false;
    return err;
}

/* In reaper_taskq, because a removal waits for tasks of system_taskq. */
void dev_lost(struct device *dev)
{
    task_add(reaper_taskq, &dev->lost);
}

void device_may_go(struct device *dev)
{
    task_init(&dev->lost, lost, dev);
}

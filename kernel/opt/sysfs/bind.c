/* bind.c: binding and unbinding by the name of device and driver. */
#include "abi/errno.h"
#include "opt/hotplug/model.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"
#include "opt/sysfs/bind.h"

int device_bind(const struct bus *bus, const char *driver, const char *device)
{
    struct device *dev;
    int err = -ENODEV;

    mutex_lock(&driver_lock);
    dev = device_find(bus, device);
    if (dev && dev->present && dev->driver)
        err = -EBUSY;
    else if (dev && dev->present)
        for (const struct driver_row *row = __drivers_start; row < __drivers_end; row++)
            if (bus_of(row->driver) == bus && !strcmp(row->name, driver) &&
                bus->match(dev, row->driver))
                err = device_probe(dev, row);
    if (!err)
        devices_retry();
    mutex_unlock(&driver_lock);
    return err == -EPROBE_DEFER ? -EAGAIN : err;
}

int device_unbind(const struct bus *bus, const char *driver, const char *device)
{
    struct device *dev;
    int err = -ENODEV;

    mutex_lock(&driver_lock);
    dev = device_find(bus, device);
    if (dev && dev->driver && !strcmp(dev->driver->name, driver))
        err = device_release(dev, false);
    mutex_unlock(&driver_lock);
    return err;
}

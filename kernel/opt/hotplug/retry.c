/* retry.c: devices that were found before, and probes that waited for another device. */
#include "abi/errno.h"
#include "opt/hotplug/model.h"
#include "klib.h"

struct device *device_find(const struct bus *bus, const char *name)
{
    struct device *dev = device_list();

    while (dev && !(dev->bus == bus && !strcmp(dev->name, name)))
        dev = dev->next;
    return dev;
}

int probe_any(struct device *dev)
{
    for (const struct driver_row *row = __drivers_start; row < __drivers_end; row++)
        if (bus_of(row->driver) == dev->bus && dev->bus->match(dev, row->driver))
            return device_probe(dev, row);
    return -ENODEV;
}

/* Probes deferred devices again, until a round binds none: a new binding may serve the next. */
void devices_retry(void)
{
    bool again = true;

    while (again) {
        again = false;
        for (struct device *dev = device_list(); dev; dev = dev->next)
            if (dev->deferred && dev->present && !dev->driver && !probe_any(dev))
                again = true;
    }
}

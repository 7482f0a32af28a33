/*
 * lateprobe.c: "probe_late=NAME,NAME" on the command line. A device of the tree with such a name is
 * added at its usual time, and probed when the first program is loaded: a run that starts at a
 * snapshot before the probe then repeats nothing but the driver and the program. A name is that of
 * the node, or its part before '@'.
 */
#include "boot.h"
#include "opt/hotplug/model.h"
#include "klib.h"

static char names[256];
static bool is_over;

static void read_names(void)
{
    cmdline_get("probe_late", names, sizeof(names));
}
INITCALL(read_names);

static bool is_named(const char *device)
{
    const char *name = names, *at = strchr(device, '@'), *comma;
    size_t whole = strlen(device), base = at ? (size_t)(at - device) : whole;

    for (; *name; name = *comma ? comma + 1 : comma) {
        size_t n;

        for (comma = name; *comma && *comma != ',';)
            comma++;
        n = (size_t)(comma - name);
        if ((n == base || n == whole) && !strncmp(name, device, n))
            return true;
    }
    return false;
}

bool probe_is_late(const struct device *dev)
{
    return !is_over && is_named(dev->name);
}

void probe_late_devices(void)
{
    mutex_lock(&driver_lock);
    is_over = true;
    for (struct device *dev = device_list(); dev; dev = dev->next)
        if (dev->present && !dev->driver && is_named(dev->name))
            probe_any(dev);
    devices_retry();
    mutex_unlock(&driver_lock);
}

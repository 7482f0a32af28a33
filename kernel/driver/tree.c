/* tree.c: the bus of the device tree, "platform" as in Linux: each enabled node whose compatible
 * strings match a driver is a device. */
#include "driver/internal.h"
#include "fdt.h"
#include "klib.h"

static bool match(const struct device *dev, const struct driver *driver)
{
    return fdt_is_compatible(dev->fdt_node, driver->match.compatible);
}

static bool is_enabled(int node)
{
    const char *status = fdt_prop_string(node, "status");

    return !status || !strcmp(status, "okay") || !strcmp(status, "ok");
}

static const struct driver_row *row_for(int node)
{
    for (const struct driver_row *row = __drivers_start; row < __drivers_end; row++)
        if (row->driver->match.bus == &tree_bus &&
            fdt_is_compatible(node, row->driver->match.compatible))
            return is_enabled(node) ? row : NULL;
    return NULL;
}

/* In tree order. (driver_lock) */
static void rescan(void)
{
    for (int node = fdt_next_node(-1, NULL); node >= 0; node = fdt_next_node(node, NULL)) {
        const struct driver_row *row = row_for(node);

        if (row)
            device_add(row, &tree_bus, NULL, fdt_node_name(node), node, fdt_irq(node), 0);
    }
}

const struct bus tree_bus = {.name = "platform", .match = match, .rescan = rescan};

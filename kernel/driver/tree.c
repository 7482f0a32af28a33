/* tree.c: the device tree as a bus, "platform" in Linux: each enabled node whose compatible strings
 * match a driver is a device. */
#include "driver.h"
#include "fdt.h"
#include "klib.h"

bool tree_match(const struct device *dev, const struct driver *driver)
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
        if (row->driver->match.compatible && fdt_is_compatible(node, row->driver->match.compatible))
            return is_enabled(node) ? row : NULL;
    return NULL;
}

void tree_scan(void)
{
    for (int node = fdt_next_node(-1); node >= 0; node = fdt_next_node(node)) {
        const struct driver_row *row = row_for(node);

        if (row)
            tree_found(row, node);
    }
}

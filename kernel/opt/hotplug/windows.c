/* windows.c: registers belong to one driver at a time. */
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "klib.h"

/* The exclusive right to use the registers of a range. */
struct window {
    struct resource r;
    struct window *next;
    u64 pa, bytes;
};

static struct window *windows; /* (driver_lock) */

static void free_window(struct resource *r)
{
    struct window *w = container_of(r, struct window, r), **at = &windows;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    kfree(w);
}

bool window_claim(struct device *dev, u64 pa, u64 bytes)
{
    struct window *w;

    for (w = windows; w; w = w->next)
        if (pa < w->pa + w->bytes && w->pa < pa + bytes)
            return false; /* another driver has claimed it */
    w = resource_new(dev, sizeof(*w), free_window, false);
    if (!w)
        return false;
    w->pa = pa;
    w->bytes = bytes;
    w->next = windows;
    windows = w;
    return true;
}

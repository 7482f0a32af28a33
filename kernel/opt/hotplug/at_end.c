/* at_end.c: a call when the memory of a binding goes. */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"

struct at_end {
    struct resource r;
    void (*fn)(void *arg);
    void *arg;
};

static void call_at_end(struct resource *r)
{
    struct at_end *e = container_of(r, struct at_end, r);

    e->fn(e->arg);
    kfree(e);
}

int dev_at_end(struct device *dev, void (*fn)(void *arg), void *arg)
{
    struct at_end *e = resource_new(dev, sizeof(*e), call_at_end, true);

    if (!e)
        return -ENOMEM;
    e->fn = fn;
    e->arg = arg;
    return 0;
}

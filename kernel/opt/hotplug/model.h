/*
 * model.h: the driver model with devices that go: its files bind.c (which device has which driver),
 * resource.c (what a driver acquires) and node.c (its files), and the interface for other buses.
 */
#pragma once

#include "driver.h"
#include "list.h"
#include "lock.h"
#include "optional.h"

extern struct mutex driver_lock; /* binding and unbinding; outside of all locks of drivers */

struct bus {
    const char *name; /* its folder in /sys/bus */
    bool (*match)(const struct device *dev, const struct driver *driver);
    int (*probe)(struct device *dev);   /* before the driver's; may be 0 */
    void (*remove)(struct device *dev); /* after the driver's; may be 0 */
    void (*rescan)(void);               /* finds devices; may be 0 */
};
extern const struct bus tree_bus;

static inline const struct bus *bus_of(const struct driver *driver)
{
    return driver->match.bus ? driver->match.bus : &tree_bus;
}

/* A resource that a driver acquired; release() undoes and frees it when the binding ends. */
struct resource {
    struct list link;
    void (*release)(struct resource *r);
    struct device *dev;
};

struct binding {
    int refs;           /* atomic: the bound device, each open file, each mounted disk */
    bool dead;          /* the removal has begun */
    bool has_irq;       /* (driver_lock) */
    u32 active;         /* atomic: calls between binding_enter and binding_leave */
    struct waitq idle;  /* the removal waits here */
    struct list in_use; /* (driver_lock) resources, the newest first */
    struct list memory; /* released with the last reference, the newest first */
};

/*
 * A record of this size, which begins with its struct resource; NULL: no memory. lasts: it stays
 * until the last reference to the binding goes.
 */
void *resource_new(struct device *dev, u64 bytes, void (*release)(struct resource *r), bool lasts);

struct binding *binding_new(void);
void binding_end(struct device *dev); /* steps 3 and 4 of a removal, or of a probe that failed */

struct device *device_list(void);
/* All need driver_lock. */
int device_probe(struct device *dev, const struct driver_row *row);
void devices_retry(void);          /* probes deferred devices again */
int probe_any(struct device *dev); /* with the first driver that matches */
struct device *device_find(const struct bus *bus, const char *name); /* known already, or 0 */
/* False: another driver has claimed registers of the range; or no memory. */
bool window_claim(struct device *dev, u64 pa, u64 bytes);
/* Puts operations in front of *ops that answer -ENODEV when the device has gone. */
int node_gate_open(struct device *dev, const char *name, const struct file_ops **ops, void *priv);
void node_gate_close(const struct file_ops *gate);
/*
 * Adds the device of this name, or marks it present again, and tries to bind it: to the driver of
 * row, or with 0 to the first that matches. NULL: no memory.
 */
struct device *device_add(const struct driver_row *row, const struct bus *bus,
                          struct device *parent, const char *name, int fdt_node, u32 irq, u32 id);

/* On return the handler is not running and never will. Interrupts must be on, no spinlock held. */
void irq_unregister(u32 source, irq_handler handler, void *arg);

void device_may_go(struct device *dev); /* once, before dev_lost */
/* Wakes all queues of dev_waitq, and waits until no call uses the device. */
void binding_drain(struct binding *b);
int queue_wake_at_end(struct device *dev, struct waitq *queue);
/* opt/lateprobe: the device is probed by probe_late_devices() instead of now. */
OPTIONAL(CONFIG_LATE_PROBE, bool, probe_is_late, (const struct device *dev), false)

/* internal.h: the interfaces between the files of the driver model. */
#pragma once

#include "driver.h"
#include "list.h"
#include "lock.h"
#include "optional.h"

extern struct mutex driver_lock; /* binding and unbinding; outside of all locks of drivers */
extern const struct driver_row __drivers_start[], __drivers_end[];

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
/* opt/hotplug */
/* (driver_lock) Probes deferred devices again. */
OPTIONAL(CONFIG_HOTPLUG, void, devices_retry, (void))
OPTIONAL(CONFIG_HOTPLUG, int, queue_wake_at_end, (struct device *dev, struct waitq *queue), 0)
/* Wakes all queues of dev_waitq, and waits until no call uses the device. */
OPTIONAL(CONFIG_HOTPLUG, void, binding_drain, (struct binding *b))
/* (driver_lock) False: another driver has claimed registers of the range; or no memory. */
OPTIONAL(CONFIG_HOTPLUG, bool, window_claim, (struct device *dev, u64 pa, u64 bytes), true)
/* (driver_lock) The device that is known already; and its probe with the first driver that matches
 */
OPTIONAL(CONFIG_HOTPLUG, struct device *, device_find, (const struct bus *bus, const char *name),
         NULL)
OPTIONAL(CONFIG_HOTPLUG, int, probe_any, (struct device *dev), 0)
/* Once, before dev_lost. */
OPTIONAL(CONFIG_HOTPLUG, void, device_may_go, (struct device *dev))
/* Puts operations in front of *ops that answer -ENODEV when the device has gone. */
OPTIONAL(CONFIG_HOTPLUG, int, node_gate_open,
         (struct device *dev, const char *name, const struct file_ops **ops, void *priv), 0)
OPTIONAL(CONFIG_HOTPLUG, void, node_gate_close, (const struct file_ops *gate))
/* opt/lateprobe: the device is probed by probe_late_devices() instead of now. */
OPTIONAL(CONFIG_LATE_PROBE, bool, probe_is_late, (const struct device *dev), false)

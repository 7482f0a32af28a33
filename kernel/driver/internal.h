/* internal.h: what the files of the driver model call of one another. */
#pragma once

#include "driver.h"
#include "list.h"
#include "lock.h"

extern struct mutex driver_lock; /* binding and unbinding; outside of all locks of drivers */
extern const struct driver_row __drivers_start[], __drivers_end[];

/* Something that is undone when its binding ends. */
struct resource {
    struct list link;
    void (*release)(struct resource *r);
    struct device *dev;
};

struct binding {
    int refs;           /* the device's while bound, each open file, each mount */
    bool dead;          /* the removal has begun */
    bool has_irq;       /* (driver_lock) */
    u32 active;         /* atomic: calls inside */
    struct waitq idle;  /* the removal waits here */
    struct list in_use; /* (driver_lock) resources, the newest first */
    struct list memory; /* released with the last reference, the newest first */
};

struct binding *binding_new(void);
void binding_end(struct device *dev); /* steps 3 and 4 of a removal, or of a probe that failed */
void binding_wake(struct binding *b); /* all queues of dev_waitq */

struct device *device_list(void);
void devices_retry(void); /* (driver_lock) those that were deferred */
int device_bind(const struct bus *bus, const char *driver, const char *device);
int device_unbind(const struct bus *bus, const char *driver, const char *device);

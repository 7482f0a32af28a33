/*
 * driver.h: the driver model. A driver is one file that registers itself:
 *
 *     DRIVER(edu) {.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe, .remove = edu_remove};
 *
 * A bus finds devices and matches drivers to them. probe() acquires resources through the dev_*
 * calls below; the driver model releases them, in reverse order, when a later step of probe fails
 * and when the device is removed. So probe returns at its first error and undoes nothing.
 *
 * Life of a binding (one device with one driver):
 *
 *     probe      -EPROBE_DEFER: probe runs again after another device was bound
 *     in use     operations of its nodes run (dev_node)
 *     removal    1. nodes answer -ENODEV to new calls; dev_gone() is true
 *                2. remove(): tell the hardware to stop; then the dev_waitq queues are woken
 *                3. running calls end
 *                4. nodes, interrupts, tasks, DMA memory, registers go, in reverse order
 *     afterwards dev_zalloc memory stays until the last open file is closed. Only release() may
 *                still be called: it may free memory, and must not touch the device.
 *
 * A struct device is never freed: their number is bounded by the board's slots.
 */
#pragma once

#include "types.h"
#include "irq.h"
#include "taskq.h"
#include "wait.h"
#include "optional.h"

struct binding;
struct device;
struct driver;
struct file_ops;

#define EPROBE_DEFER 517 /* as in Linux; never seen by programs */

struct bus {
    const char *name; /* its folder in /sys/bus */
    bool (*match)(const struct device *dev, const struct driver *driver);
    int (*probe)(struct device *dev);   /* before the driver's; may be 0 */
    void (*remove)(struct device *dev); /* after the driver's; may be 0 */
    void (*rescan)(void);               /* finds devices; may be 0 */
};
extern const struct bus tree_bus, virtio_bus;

struct match {
    const struct bus *bus;
    const char *compatible; /* tree_bus: a compatible string of the node */
    u32 id;                 /* virtio_bus: the device ID */
};
#define MATCH_TREE(string)   {.bus = &tree_bus, .compatible = (string)}
#define MATCH_VIRTIO(number) {.bus = &virtio_bus, .id = (number)}

struct driver {
    struct match match;
    int (*probe)(struct device *dev);     /* 0 or a negative errno; -ENODEV is not reported */
    void (*remove)(struct device *dev);   /* see above; may be 0. Also after a surprise removal */
    void (*shutdown)(struct device *dev); /* before remove(), while the device answers; or 0 */
    bool permanent;                       /* cannot be unbound (the console) */
};

/* A row of section .drivers, which kernel.ld collects into a table. */
struct driver_row {
    const char *name;
    const struct driver *driver;
};
#define DRIVER(id)                                                                                 \
    static const struct driver id##_driver;                                                        \
    static const struct driver_row id##_row                                                        \
        __attribute__((used, section(".drivers"), aligned(8))) = {#id, &id##_driver};              \
    static const struct driver id##_driver =

struct device {
    struct device *next; /* of all devices, in the order of discovery */
    const struct bus *bus;
    struct device *parent;           /* the transport of a virtio device, or 0 */
    char name[48];                   /* "virtio_mmio@10001000" */
    int fdt_node;                    /* its node of the device tree, or its parent's */
    u32 id;                          /* virtio: the kind of device */
    u32 irq;                         /* source; 0: none */
    bool present;                    /* (driver_lock) */
    bool deferred;                   /* (driver_lock) its probe waits for another device */
    const struct driver_row *driver; /* (driver_lock) 0: none */
    struct binding *binding;         /* from the start of probe to the end of removal; or 0 */
    void *priv;                      /* the driver's */
    struct task lost;                /* of dev_lost */
};

/* ---- What probe() acquires. All may sleep; NULL or a negative errno on failure. ---- */

/* Zeroed memory that lives as long as the last open file of this binding. */
void *dev_zalloc(struct device *dev, u64 bytes);
/* Registers: the n-th "reg" of the node, claimed exclusively. */
volatile u8 *dev_ioremap(struct device *dev, u32 n);
/* Zeroed, contiguous, page-aligned memory that a device can reach at dma_addr(). */
void *dev_dma_alloc(struct device *dev, u64 bytes);
/* A queue whose sleepers and pollers are woken when the device goes. */
int dev_waitq(struct device *dev, struct waitq *queue);
/*
 * A task. Its release waits until it does not run. Acquire it before dev_irq: the interrupt handler
 * that queues it is then released first.
 */
int dev_task(struct device *dev, struct task *task, void (*fn)(void *arg), void *arg);
int dev_irq(struct device *dev, irq_handler handler, void *arg);
/*
 * /dev/NAME. Every open file finds priv in file->priv; an open() of the driver's own is optional.
 * mode may say S_IFBLK. Mappings are those of vm_map_pages: they outlive the device.
 */
int dev_node(struct device *dev, const char *name, const struct file_ops *ops, u32 mode, u64 rdev,
             void *priv);

u64 dma_addr(const void *buf); /* the address of buf for the device */

/* ---- Removal ---- */

/* True from step 1 of the removal on. Every sleep of a driver tests it in its condition. */
bool dev_gone(const struct device *dev);
/* The hardware is no longer there (its registers read as all ones). Any context. */
OPTIONAL(CONFIG_HOTPLUG, void, dev_lost, (struct device *dev))

void binding_put(struct binding *b); /* drops a reference */

/* ---- For buses, and for device management in driver/ ---- */

void drivers_probe(void);
/* opt/lateprobe: probes the devices that "probe_late" names. */
OPTIONAL(CONFIG_LATE_PROBE, void, probe_late_devices, (void))
/*
 * Adds the device of this name, or marks it present again, and tries to bind it: to the driver of
 * row, or with 0 to the first that matches. NULL: no memory. (driver_lock)
 */
struct device *device_add(const struct driver_row *row, const struct bus *bus,
                          struct device *parent, const char *name, int fdt_node, u32 irq, u32 id);

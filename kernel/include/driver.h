/*
 * driver.h: the driver model. A driver is one file that registers itself:
 *
 *     DRIVER(edu) {.match = MATCH_TREE("kcovbox,edu"), .probe = edu_probe, .remove = edu_remove};
 *
 * Each enabled node of the device tree whose compatible strings match a driver is a device. probe()
 * acquires resources through the dev_* calls below, returns at its first error and undoes nothing.
 *
 * Without the option HOTPLUG (driver/driver.c) devices never go, and nothing is released. With it
 * (opt/hotplug) the driver model releases resources in reverse order when a later step of probe
 * fails and when the device is removed, and this is the life of a binding (one device with one
 * driver):
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
#include "memlayout.h"
#include "taskq.h"
#include "wait.h"
#include "optional.h"

struct binding;
struct bus;
struct device;
struct driver;
struct file_ops;

#define EPROBE_DEFER 517 /* as in Linux; never seen by programs */

struct match {
    const char *compatible; /* a compatible string of the node */
    const struct bus *bus;  /* another bus than the tree (opt/hotplug/model.h), or 0 */
    u32 id;                 /* the kind of device on that bus */
};
#define MATCH_TREE(string) {.compatible = (string)}

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
extern const struct driver_row __drivers_start[], __drivers_end[];
#define DRIVER(id)                                                                                 \
    static const struct driver id##_driver;                                                        \
    static const struct driver_row id##_row                                                        \
        __attribute__((used, section(".drivers"), aligned(8))) = {#id, &id##_driver};              \
    static const struct driver id##_driver =

struct device {
    char name[48]; /* "edu@4010000" */
    int fdt_node;  /* its node of the device tree, or its parent's */
    u32 irq;       /* source; 0: none */
    void *priv;    /* the driver's */
    /* HOTPLUG: */
    struct device *next; /* of all devices, in the order of discovery */
    const struct bus *bus;
    struct device *parent;           /* the transport of a virtio device, or 0 */
    u32 id;                          /* virtio: the kind of device */
    bool present;                    /* (driver_lock) */
    bool deferred;                   /* (driver_lock) its probe waits for another device */
    const struct driver_row *driver; /* (driver_lock) 0: none */
    struct binding *binding;         /* from the start of probe to the end of removal; or 0 */
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

/* The address of buf for the device. */
static inline u64 dma_addr(const void *buf)
{
    return va_to_pa(buf);
}

/* ---- Removal ---- */

/* True from step 1 of the removal on. Every sleep of a driver tests it in its condition. */
OPTIONAL(CONFIG_HOTPLUG, bool, dev_gone, (const struct device *dev), false)
/* The hardware is no longer there (its registers read as all ones). Any context. */
OPTIONAL(CONFIG_HOTPLUG, void, dev_lost, (struct device *dev))

/* ---- At boot ---- */

void drivers_probe(void);
/* tree.c: tells tree_found() of each device of the tree, in tree order. */
void tree_scan(void);
bool tree_match(const struct device *dev, const struct driver *driver);
/* driver.c, or opt/hotplug/bind.c: a device that matches the driver of row. (driver_lock) */
void tree_found(const struct driver_row *row, int node);
/* opt/lateprobe: probes the devices that "probe_late" names. */
OPTIONAL(CONFIG_LATE_PROBE, void, probe_late_devices, (void))

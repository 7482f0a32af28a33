/*
 * driver.h: the driver model, in four small pieces.
 *
 *     const struct driver x_driver = {...}   one row, listed in kernel/dev/drivers.c
 *     probe(struct device *dev)              once per matching node of the device tree
 *     mmio_read32(dev->regs + X), ...        ordered MMIO accesses (riscv.h)
 *     dma_alloc / dma_addr                   memory that a device can be told about
 *
 * Interrupts: irq_register(dev->irq, handler, arg) (trap.h). A handler acknowledges its device,
 * records what happened and wakes sleepers or queues a task; it never sleeps.
 */
#pragma once

#include "types.h"

struct device {
    const char *node;       /* "virtio_mmio@10001000" */
    const char *compatible; /* the string that matched */
    volatile u8 *regs;      /* kernel address of reg[0] */
    u64 regs_pa, regs_size;
    u32 irq; /* 0: none */
    int fdt_node;
    void *priv; /* the driver's */
};

struct driver {
    const char *name;
    const char *compatible;
    int (*probe)(struct device *dev); /* 0, or a negative errno: "-ENODEV" is not reported */
};

/* Walks the device tree and probes every enabled node that a driver row matches, in tree order. */
void drivers_probe(void);

/* Zeroed, physically contiguous, page-aligned memory; 0 when there is none. */
void *dma_alloc(u64 bytes);
void dma_free(void *buf, u64 bytes);
u64 dma_addr(const void *buf); /* what the device is told */

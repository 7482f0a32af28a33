/*
 * driver.h: the driver model, in four small pieces.
 *
 *     const struct driver x_driver = {...}   one row, listed in kernel/dev/drivers.c
 *     probe(struct device *dev)              once per matching node of the device tree
 *     read32(dev->regs + X), write32(...)    MMIO, with the fences that ordering needs
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

static inline u8 read8(const volatile void *reg)
{
    u8 v = *(const volatile u8 *)reg;
    __asm__ volatile("fence i, r" ::: "memory");
    return v;
}

static inline u32 read32(const volatile void *reg)
{
    u32 v = *(const volatile u32 *)reg;
    __asm__ volatile("fence i, r" ::: "memory");
    return v;
}

static inline u64 read64(const volatile void *reg)
{
    u64 v = *(const volatile u64 *)reg;
    __asm__ volatile("fence i, r" ::: "memory");
    return v;
}

static inline void write8(volatile void *reg, u8 v)
{
    __asm__ volatile("fence w, o" ::: "memory");
    *(volatile u8 *)reg = v;
}

static inline void write32(volatile void *reg, u32 v)
{
    __asm__ volatile("fence w, o" ::: "memory");
    *(volatile u32 *)reg = v;
}

static inline void write64(volatile void *reg, u64 v)
{
    __asm__ volatile("fence w, o" ::: "memory");
    *(volatile u64 *)reg = v;
}

/* Zeroed, physically contiguous, page-aligned memory; 0 when there is none. */
void *dma_alloc(u64 bytes);
void dma_free(void *buf, u64 bytes);
u64 dma_addr(const void *buf); /* what the device is told */

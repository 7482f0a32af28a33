/*
 * virtio.c: the MMIO transport and the split queue (Virtio 1.2 §4.2, §2.7; legacy §4.2.4).
 *
 * A request is a chain of descriptors; whoever submits it sleeps on the request until the interrupt
 * handler has seen it in the used ring. Free descriptors form a list through desc[].next.
 *
 * Memory barriers: the device must see a chain before its index, and the index before the notify.
 */
#include "virtio.h"
#include "abi/errno.h"
#include "dev.h"
#include "irq.h"
#include "klib.h"
#include "memlayout.h"
#include "riscv.h"

enum reg {
    MAGIC = 0x000,
    VERSION = 0x004,
    DEVICE_ID = 0x008,
    DEVICE_FEATURES = 0x010,
    DEVICE_FEATURES_SEL = 0x014,
    DRIVER_FEATURES = 0x020,
    DRIVER_FEATURES_SEL = 0x024,
    GUEST_PAGE_SIZE = 0x028, /* legacy */
    QUEUE_SEL = 0x030,
    QUEUE_NUM_MAX = 0x034,
    QUEUE_NUM = 0x038,
    QUEUE_ALIGN = 0x03c, /* legacy */
    QUEUE_PFN = 0x040,   /* legacy */
    QUEUE_READY = 0x044,
    QUEUE_NOTIFY = 0x050,
    INTERRUPT_STATUS = 0x060,
    INTERRUPT_ACK = 0x064,
    STATUS = 0x070,
    QUEUE_DESC = 0x080,
    QUEUE_DRIVER = 0x090,
    QUEUE_DEVICE = 0x0a0,
    CONFIG = 0x100,
};

#define MAGIC_VALUE 0x74726976 /* "virt" */

#define S_ACKNOWLEDGE 1
#define S_DRIVER      2
#define S_DRIVER_OK   4
#define S_FEATURES_OK 8
#define S_FAILED      128

#define F_VERSION_1 (1UL << 32)

#define I_USED   1
#define I_CONFIG 2

#define D_NEXT  1
#define D_WRITE 2

static u32 get(struct virtio *v, u32 reg)
{
    return mmio_read32(v->dev->regs + reg);
}

static void set(struct virtio *v, u32 reg, u32 value)
{
    mmio_write32(v->dev->regs + reg, value);
}

u32 virtio_config32(struct virtio *v, u32 offset)
{
    return get(v, CONFIG + offset);
}

u64 virtio_config64(struct virtio *v, u32 offset)
{
    return get(v, CONFIG + offset) | (u64)get(v, CONFIG + offset + 4) << 32;
}

static void set_address(struct virtio *v, u32 reg, const volatile void *p)
{
    u64 pa = dma_addr((const void *)p);

    set(v, reg, (u32)pa);
    set(v, reg + 4, (u32)(pa >> 32));
}

/*
 * Two pages: descriptors and the available ring in the first, the used ring in the second, which is
 * the layout that legacy devices expect.
 */
static int setup_queue(struct virtio *v)
{
    u8 *ring = dma_alloc(2 * PAGE_SIZE);

    if (!ring)
        return -ENOMEM;
    v->desc = (struct virtio_desc *)ring;
    v->avail = (struct virtio_avail *)(ring + VIRTIO_RING * sizeof(*v->desc));
    v->used = (struct virtio_used *)(ring + PAGE_SIZE);
    for (u16 i = 0; i < VIRTIO_RING; i++)
        v->desc[i].next = i + 1;
    v->nfree = VIRTIO_RING;
    set(v, QUEUE_SEL, 0);
    if (get(v, QUEUE_NUM_MAX) < VIRTIO_RING)
        return -ENXIO;
    set(v, QUEUE_NUM, VIRTIO_RING);
    if (v->version == 1) {
        set(v, GUEST_PAGE_SIZE, PAGE_SIZE);
        set(v, QUEUE_ALIGN, PAGE_SIZE);
        set(v, QUEUE_PFN, (u32)(dma_addr(ring) >> PAGE_SHIFT));
    } else {
        set_address(v, QUEUE_DESC, v->desc);
        set_address(v, QUEUE_DRIVER, v->avail);
        set_address(v, QUEUE_DEVICE, v->used);
        set(v, QUEUE_READY, 1);
    }
    return 0;
}

static int negotiate(struct virtio *v, u64 wanted)
{
    u64 offered;

    set(v, DEVICE_FEATURES_SEL, 0);
    offered = get(v, DEVICE_FEATURES);
    if (v->version > 1) {
        set(v, DEVICE_FEATURES_SEL, 1);
        offered |= (u64)get(v, DEVICE_FEATURES) << 32;
        wanted |= F_VERSION_1;
    }
    v->features = offered & wanted;
    set(v, DRIVER_FEATURES_SEL, 0);
    set(v, DRIVER_FEATURES, (u32)v->features);
    if (v->version == 1)
        return 0;
    set(v, DRIVER_FEATURES_SEL, 1);
    set(v, DRIVER_FEATURES, (u32)(v->features >> 32));
    set(v, STATUS, S_ACKNOWLEDGE | S_DRIVER | S_FEATURES_OK);
    return get(v, STATUS) & S_FEATURES_OK ? 0 : -ENXIO;
}

/* Gives the descriptors of a chain back. Needs the lock. */
static void free_chain(struct virtio *v, u16 head)
{
    u16 last = head, n = 1;

    while (v->desc[last].flags & D_NEXT) {
        last = v->desc[last].next;
        n++;
    }
    v->desc[last].next = v->free_head;
    v->free_head = head;
    v->nfree += n;
}

static void virtio_interrupt(u32 source, void *arg)
{
    struct virtio *v = arg;
    u32 status = get(v, INTERRUPT_STATUS);

    set(v, INTERRUPT_ACK, status & (I_USED | I_CONFIG));
    if (status & I_CONFIG && v->config_changed)
        v->config_changed(v);
    spin_lock(&v->lock);
    while (v->used_seen != v->used->idx) {
        u32 slot = v->used_seen++ % VIRTIO_RING;
        u16 head = (u16)v->used->ring[slot].id % VIRTIO_RING;
        struct virtio_request *r = v->done[head];

        mb();
        if (!r)
            continue; /* the device completes what nobody asked for */
        v->done[head] = NULL;
        free_chain(v, head);
        r->written = v->used->ring[slot].len;
        /* the request is on the sleeper's stack: its queue must not be touched after finished */
        spin_lock(&r->wait.lock);
        r->finished = true;
        list_for_each_safe(w, &r->wait.waiters, struct waiter, node)
            w->wake(w, 0);
        spin_unlock(&r->wait.lock);
    }
    spin_unlock(&v->lock);
    wake_up(&v->wait);
}

int virtio_start(struct virtio *v, struct device *dev, u64 wanted)
{
    int err;

    v->dev = dev;
    v->version = get(v, VERSION);
    spin_init(&v->lock, "virtio");
    waitq_init(&v->wait);
    set(v, STATUS, 0);
    set(v, STATUS, S_ACKNOWLEDGE);
    set(v, STATUS, S_ACKNOWLEDGE | S_DRIVER);
    err = negotiate(v, wanted);
    if (!err)
        err = setup_queue(v);
    if (!err)
        err = irq_register(dev->irq, virtio_interrupt, v);
    if (err) {
        set(v, STATUS, S_FAILED);
        dma_free(v->desc, 2 * PAGE_SIZE); /* the first page's start, or NULL */
        return err;
    }
    set(v, STATUS, get(v, STATUS) | S_DRIVER_OK);
    return 0;
}

void virtio_stop(struct virtio *v)
{
    set(v, STATUS, 0); /* the device forgets the rings (Virtio 1.2 §2.1.2) */
    irq_unregister(v->dev->irq, virtio_interrupt, v);
    dma_free(v->desc, 2 * PAGE_SIZE);
}

/* Builds the chain and tells the device. False when the ring has no room. */
static bool submit(struct virtio *v, const struct virtio_buffer *buf, u32 n,
                   struct virtio_request *r)
{
    u16 head, at;

    spin_lock(&v->lock);
    if (v->nfree < n) {
        spin_unlock(&v->lock);
        return false;
    }
    head = at = v->free_head;
    for (u32 i = 0; i < n; i++) {
        struct virtio_desc *d = &v->desc[at];

        d->addr = dma_addr(buf[i].data);
        d->len = buf[i].len;
        d->flags = (buf[i].device_writes ? D_WRITE : 0) | (i + 1 < n ? D_NEXT : 0);
        at = d->next;
    }
    v->free_head = at;
    v->nfree -= n;
    v->done[head] = r;
    v->avail->ring[v->avail->idx % VIRTIO_RING] = head;
    mb();
    v->avail->idx++;
    io_mb();
    set(v, QUEUE_NOTIFY, 0);
    spin_unlock(&v->lock);
    return true;
}

static bool is_finished(struct virtio_request *r)
{
    bool yes;

    spin_lock(&r->wait.lock);
    yes = r->finished;
    spin_unlock(&r->wait.lock);
    return yes;
}

int virtio_transfer(struct virtio *v, const struct virtio_buffer *buf, u32 n, u32 *written)
{
    struct virtio_request r = {0};

    waitq_init(&r.wait);
    wait_event(&v->wait, submit(v, buf, n, &r));
    wait_event(&r.wait, is_finished(&r));
    if (written)
        *written = r.written;
    return 0;
}

static int virtio_probe(struct device *dev)
{
    if (mmio_read32(dev->regs + MAGIC) != MAGIC_VALUE)
        return -ENODEV;
    switch (mmio_read32(dev->regs + DEVICE_ID)) {
    case VIRTIO_ID_BLOCK:
        return virtio_blk_probe(dev);
    case VIRTIO_ID_CONSOLE:
        return virtio_console_probe(dev);
    case VIRTIO_ID_ENTROPY:
        return virtio_rng_probe(dev);
    default:
        return -ENODEV; /* an empty slot has ID 0 */
    }
}

const struct driver virtio_mmio_driver = {"virtio", "virtio,mmio", virtio_probe};

/*
 * virtio.c: the MMIO transport and the split queue (Virtio 1.2 §4.2, §2.7; legacy §4.2.4).
 *
 * A request is a chain of descriptors; the caller sleeps on the request until the interrupt handler
 * has found it in the used ring. Free descriptors form a list through desc[].next.
 *
 * The transport is a device of the device tree; the device behind it belongs to the virtio bus and
 * shares the transport's node and interrupt. A waiter checks the used ring itself after a second,
 * so a lost interrupt costs time, not the request.
 *
 * Memory barriers: the device must see a chain before its index, and the index before the notify.
 */
#include "opt/hotplug/hotplug.h"
#include "opt/hotplug/model.h"
#include "virtio.h"
#include "abi/errno.h"
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
    return mmio_read32(v->regs + reg);
}

static void set(struct virtio *v, u32 reg, u32 value)
{
    mmio_write32(v->regs + reg, value);
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
    u8 *ring = dev_dma_alloc(v->dev, 2 * PAGE_SIZE);

    if (!ring)
        return -ENOMEM;
    v->desc = (struct virtio_desc *)ring;
    v->avail = (struct virtio_avail *)(ring + VIRTIO_RING * sizeof(*v->desc));
    v->used = (struct virtio_used *)(ring + PAGE_SIZE);
    for (u16 i = 0; i < VIRTIO_RING; i++)
        v->next[i] = i + 1;
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

/*
 * Gives the descriptors of a chain back. Needs the lock. The links are those of v->next, because a
 * hostile device may have changed those that it reads.
 */
static void free_chain(struct virtio *v, u16 head)
{
    u16 last = head;

    for (u32 i = 1; i < v->length[head]; i++)
        last = v->next[last];
    v->next[last] = v->free_head;
    v->free_head = head;
    v->nfree += v->length[head];
}

/* The request is on the sleeper's stack, which may go once the sleeper sees r->finished: that needs
 * the queue's lock, so the wake-ups below come first. */
static void finish(struct virtio_request *r, int error, u32 written)
{
    spin_lock(&r->wait.lock);
    r->error = error;
    r->written = written;
    r->finished = true;
    list_for_each_safe(w, &r->wait.waiters, struct waiter, node)
        w->wake(w, 0);
    spin_unlock(&r->wait.lock);
}

/* Completes the requests of the used ring: frees descriptors, wakes the sleepers. Any context. */
static void reap(struct virtio *v)
{
    spin_lock(&v->lock);
    while (v->used_seen != v->used->idx) {
        u32 slot = v->used_seen++ % VIRTIO_RING;
        struct virtio_request *r;
        u16 head;

        mb(); /* the device wrote the entry, and the data before it, before the index */
        head = (u16)v->used->ring[slot].id % VIRTIO_RING;
        r = v->done[head];
        if (!r)
            continue; /* a faulty device completes a request that was never made */
        v->done[head] = NULL;
        free_chain(v, head);
        finish(r, 0, v->used->ring[slot].len);
    }
    spin_unlock(&v->lock);
    wake_up(&v->wait);
}

static void virtio_interrupt(u32 source, void *arg)
{
    struct virtio *v = arg;
    u32 status = get(v, INTERRUPT_STATUS);

    if (status == ~0u) {
        dev_lost(v->dev->parent); /* all ones: the device was removed */
        return;
    }
    set(v, INTERRUPT_ACK, status & (I_USED | I_CONFIG));
    if (status & I_CONFIG && v->config_changed)
        v->config_changed(v);
    reap(v);
}

int virtio_start(struct virtio *v, struct device *dev, u64 wanted)
{
    int err;

    v->dev = dev;
    v->regs = dev->parent->priv;
    v->version = get(v, VERSION);
    spin_init(&v->lock, "virtio");
    set(v, STATUS, S_ACKNOWLEDGE | S_DRIVER);
    if ((err = dev_waitq(dev, &v->wait)) || (err = negotiate(v, wanted)) ||
        (err = setup_queue(v)) || (err = dev_irq(dev, virtio_interrupt, v)))
        return err;
    set(v, STATUS, get(v, STATUS) | S_DRIVER_OK);
    return 0;
}

void virtio_stop(struct virtio *v)
{
    set(v, STATUS, 0); /* the device forgets the ring (Virtio 1.2 §2.1.2) */
    spin_lock(&v->lock);
    v->broken = true;
    for (u32 i = 0; i < VIRTIO_RING; i++)
        if (v->done[i]) {
            finish(v->done[i], -EIO, 0);
            v->done[i] = NULL;
        }
    spin_unlock(&v->lock);
    wake_up(&v->wait);
}

/* Builds the chain and tells the device: 1, 0 when the ring has no room, -EIO. */
static int submit(struct virtio *v, const struct virtio_buffer *buf, u32 n,
                  struct virtio_request *r)
{
    u16 head, at;

    spin_lock(&v->lock);
    if (v->broken || v->nfree < n) {
        int none = v->broken ? -EIO : 0;

        spin_unlock(&v->lock);
        return none;
    }
    head = at = v->free_head;
    for (u32 i = 0; i < n; i++) {
        struct virtio_desc *d = &v->desc[at];

        d->addr = dma_addr(buf[i].data);
        d->len = buf[i].len;
        d->flags = (buf[i].device_writes ? D_WRITE : 0) | (i + 1 < n ? D_NEXT : 0);
        d->next = at = v->next[at];
    }
    v->length[head] = n;
    v->free_head = at;
    v->nfree -= n;
    v->done[head] = r;
    v->avail->ring[v->avail->idx % VIRTIO_RING] = head;
    mb();
    v->avail->idx++;
    io_mb();
    set(v, QUEUE_NOTIFY, 0);
    spin_unlock(&v->lock);
    return 1;
}

static bool is_finished(struct virtio_request *r)
{
    bool yes;

    spin_lock(&r->wait.lock);
    yes = r->finished;
    spin_unlock(&r->wait.lock);
    return yes;
}

/* Not interruptible: the device may still write to buffers that the caller would free. */
static bool wait_finished(struct virtio_request *r, u64 deadline)
{
    struct waiter w;

    waiter_init(&w);
    waitq_add(&r->wait, &w);
    for (;;) {
        sleep_prepare(SLEEP_UNINTERRUPTIBLE);
        if (is_finished(r) || time_now() >= deadline)
            break;
        sleep_commit(deadline);
    }
    sleep_cancel();
    waitq_remove(&w);
    return is_finished(r);
}

int virtio_transfer(struct virtio *v, const struct virtio_buffer *buf, u32 n, u32 *written)
{
    struct virtio_request r = {0};
    u64 started = time_now();
    int sent = 0;

    waitq_init(&r.wait);
    wait_event(&v->wait, (sent = submit(v, buf, n, &r)));
    if (sent < 0)
        return sent;
    while (!wait_finished(&r, time_now() + TICKS_PER_SEC)) {
        reap(v);
        if (!is_finished(&r) && time_now() - started >= VIRTIO_TIMEOUT) {
            kprintf("%s: no answer, giving it up\n", v->dev->name);
            virtio_stop(v);
        }
    }
    if (written)
        *written = r.written;
    return r.error;
}

/* ---- The transport, and the bus behind it ---- */

/* A slot without a device has ID 0. */
static int mmio_probe(struct device *dev)
{
    volatile u8 *regs = dev_ioremap(dev, 0);
    char name[sizeof(dev->name)];
    u32 id;

    if (!regs)
        return -EBUSY;
    id = mmio_read32(regs + MAGIC) == MAGIC_VALUE ? mmio_read32(regs + DEVICE_ID) : 0;
    if (!id)
        return -ENODEV;
    dev->priv = (void *)regs;
    ksnprintf(name, sizeof(name), "virtio@%s", strrchr(dev->name, '@') + 1);
    return device_add(NULL, &virtio_bus, dev, name, dev->fdt_node, dev->irq, id) ? 0 : -ENOMEM;
}

/* Removes the device behind the transport, before the transport itself goes. */
static void remove_child(struct device *dev, bool is_lost)
{
    for (struct device *child = dev->next; child; child = child->next)
        if (child->parent == dev && child->present)
            device_del(child, is_lost);
}

static void mmio_shutdown(struct device *dev)
{
    remove_child(dev, false);
}

static void mmio_remove(struct device *dev)
{
    remove_child(dev, true);
}

DRIVER(virtio_mmio){
    .match = MATCH_TREE("virtio,mmio"),
    .probe = mmio_probe,
    .remove = mmio_remove,
    .shutdown = mmio_shutdown,
};

static bool bus_match(const struct device *dev, const struct driver *driver)
{
    return dev->id == driver->match.id;
}

static volatile u8 *status_of(struct device *dev)
{
    return (volatile u8 *)dev->parent->priv + STATUS;
}

static int bus_probe(struct device *dev)
{
    mmio_write32(status_of(dev), 0);
    mmio_write32(status_of(dev), S_ACKNOWLEDGE);
    return 0;
}

/* Resets the device, so it does no more DMA even if its driver forgot to stop it. */
static void bus_remove(struct device *dev)
{
    mmio_write32(status_of(dev), 0);
}

const struct bus virtio_bus = {
    .name = "virtio",
    .match = bus_match,
    .probe = bus_probe,
    .remove = bus_remove,
};

#ifdef CONFIG_KTEST
#include "alloc.h"
#include "ktest.h"

/* A queue without a device: pages for ring and registers. */
static void fake(struct virtio *v, u8 *pages)
{
    *v = (struct virtio){.regs = pages + 2 * PAGE_SIZE, .nfree = VIRTIO_RING};
    spin_init(&v->lock, "virtio");
    waitq_init(&v->wait);
    v->desc = (struct virtio_desc *)pages;
    v->avail = (struct virtio_avail *)(pages + VIRTIO_RING * sizeof(*v->desc));
    v->used = (struct virtio_used *)(pages + PAGE_SIZE);
    for (u16 i = 0; i < VIRTIO_RING; i++)
        v->next[i] = i + 1;
}

KTEST(a_device_cannot_change_the_chains)
{
    pa_t pa = page_alloc_contig(3);
    struct virtio_request r = {0};
    struct virtio_buffer buf[3];
    struct virtio v;

    ASSERT_TRUE(test, pa);
    fake(&v, pa_to_va(pa));
    waitq_init(&r.wait);
    for (u32 i = 0; i < 3; i++)
        buf[i] = (struct virtio_buffer){pa_to_va(pa), 16, true};
    for (u32 round = 0; round < 2 * VIRTIO_RING; round++) {
        r.finished = false;
        ASSERT_TRUE(test, submit(&v, buf, 3, &r) == 1);
        EXPECT_EQ(test, v.nfree, VIRTIO_RING - 3);
        for (u32 i = 0; i < VIRTIO_RING; i++) { /* loops, and links out of the table */
            v.desc[i].flags = D_NEXT;
            v.desc[i].next = (u16)(round % 2 ? i : 0xffff);
        }
        v.used->ring[round % VIRTIO_RING].id = v.avail->ring[round % VIRTIO_RING];
        v.used->idx++;
        reap(&v);
        EXPECT_TRUE(test, is_finished(&r));
        ASSERT_TRUE(test, v.nfree == VIRTIO_RING);
    }
    page_put_contig(pa, 3);
}
#endif

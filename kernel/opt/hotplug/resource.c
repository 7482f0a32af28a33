/*
 * resource.c: managed resources of drivers. Every dev_* call leaves a record in the binding;
 * binding_end releases the records, the newest first. Memory lives until the last reference to the
 * binding goes, because the queues that pollers wait on are in it.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "fdt.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"
#include "memlayout.h"
#include "riscv.h"

struct binding *binding_new(void)
{
    struct binding *b = kzalloc(sizeof(*b));

    if (!b)
        return NULL;
    b->refs = 1;
    waitq_init(&b->idle);
    list_init(&b->in_use);
    list_init(&b->memory);
    return b;
}

static void release_all(struct list *resources)
{
    while (!list_empty(resources)) {
        struct resource *r = list_first(resources, struct resource, link);

        list_remove(&r->link);
        r->release(r);
    }
}

void binding_put(struct binding *b)
{
    if (!b || atomic_sub(&b->refs, 1) != 0)
        return;
    release_all(&b->memory);
    kfree(b);
}

bool dev_gone(const struct device *dev)
{
    const struct binding *b = atomic_load(&dev->binding);

    return !b || atomic_load(&b->dead);
}

void binding_end(struct device *dev)
{
    struct binding *b = dev->binding;

    atomic_store(&b->dead, true);
    mb();
    binding_drain(b);
    release_all(&b->in_use);
    dev->priv = NULL;
    dev->driver = NULL;
    atomic_store(&dev->binding, NULL);
    binding_put(b);
}

void *resource_new(struct device *dev, u64 bytes, void (*release)(struct resource *r), bool lasts)
{
    struct resource *r = kzalloc(bytes);

    if (!r)
        return NULL;
    r->dev = dev;
    r->release = release;
    list_push_front(lasts ? &dev->binding->memory : &dev->binding->in_use, &r->link);
    return r;
}

/* The record, followed by the memory itself. */
struct memory {
    struct resource r;
    u64 data[];
};

static void free_memory(struct resource *r)
{
    kfree(r);
}

void *dev_zalloc(struct device *dev, u64 bytes)
{
    struct memory *m = resource_new(dev, sizeof(*m) + bytes, free_memory, true);

    return m ? m->data : NULL;
}

/* The linear map covers all registers. */
volatile u8 *dev_ioremap(struct device *dev, u32 n)
{
    u64 pa, bytes;

    if (!fdt_reg(dev->fdt_node, (int)n, &pa, &bytes) || !window_claim(dev, pa, bytes))
        return NULL;
    return pa_to_va(pa);
}

struct dma {
    struct resource r;
    pa_t pa;
    u64 pages;
};

static void free_dma(struct resource *r)
{
    struct dma *d = container_of(r, struct dma, r);

    page_put_contig(d->pa, d->pages);
    kfree(d);
}

void *dev_dma_alloc(struct device *dev, u64 bytes)
{
    u64 pages = ALIGN_UP(bytes, PAGE_SIZE) >> PAGE_SHIFT;
    pa_t pa = page_alloc_contig(pages);
    struct dma *d = pa ? resource_new(dev, sizeof(*d), free_dma, false) : NULL;

    if (!d) {
        if (pa)
            page_put_contig(pa, pages);
        return NULL;
    }
    d->pa = pa;
    d->pages = pages;
    return pa_to_va(pa);
}

int dev_waitq(struct device *dev, struct waitq *queue)
{
    waitq_init(queue);
    return queue_wake_at_end(dev, queue);
}

struct managed_task {
    struct resource r;
    struct task *task;
};

static void free_task(struct resource *r)
{
    struct managed_task *t = container_of(r, struct managed_task, r);

    task_del(t->task);
    taskq_barrier(system_taskq);
    kfree(t);
}

int dev_task(struct device *dev, struct task *task, void (*fn)(void *arg), void *arg)
{
    struct managed_task *t;

    KASSERT(!dev->binding->has_irq); /* free_task runs first: the handler could still queue it */
    t = resource_new(dev, sizeof(*t), free_task, false);
    if (!t)
        return -ENOMEM;
    task_init(task, fn, arg);
    t->task = task;
    return 0;
}

struct handler {
    struct resource r;
    irq_handler fn;
    void *arg;
};

static void free_handler(struct resource *r)
{
    struct handler *h = container_of(r, struct handler, r);

    irq_unregister(r->dev->irq, h->fn, h->arg);
    kfree(h);
}

int dev_irq(struct device *dev, irq_handler fn, void *arg)
{
    struct handler *h = resource_new(dev, sizeof(*h), free_handler, false);
    int err;

    if (!h)
        return -ENOMEM;
    h->fn = fn;
    h->arg = arg;
    err = irq_register(dev->irq, dev->name, fn, arg);
    if (err) {
        list_remove(&h->r.link);
        kfree(h);
        return err;
    }
    dev->binding->has_irq = true;
    return 0;
}

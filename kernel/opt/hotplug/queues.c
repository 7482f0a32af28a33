/* queues.c: wakes the sleepers and pollers of a device that goes. */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/hotplug/model.h"
#include "poll.h"

/* A memory resource, released last: pollers of open files hang on the queue. */
struct queue {
    struct resource r;
    struct waitq *queue;
};

static void free_queue(struct resource *r)
{
    kfree(container_of(r, struct queue, r));
}

int queue_wake_at_end(struct device *dev, struct waitq *queue)
{
    struct queue *q = resource_new(dev, sizeof(*q), free_queue, true);

    if (!q)
        return -ENOMEM;
    q->queue = queue;
    return 0;
}

static void wake(struct binding *b)
{
    list_for_each(r, &b->memory, struct resource, link)
        if (r->release == free_queue)
            wake_up_events(container_of(r, struct queue, r)->queue,
                           POLLIN | POLLOUT | POLLERR | POLLHUP);
}

void binding_drain(struct binding *b)
{
    wake(b);
    if (atomic_load(&b->active))
        wait_event(&b->idle, atomic_load(&b->active) == 0);
}

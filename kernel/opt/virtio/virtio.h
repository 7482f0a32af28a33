/*
 * virtio.h: the interface between the virtio transport over MMIO (Virtio 1.2 §2, §4.2) and the
 * drivers of devices. Each device uses one split queue.
 */
#pragma once

#include "driver.h"
#include "lock.h"
#include "timeout.h"
#include "wait.h"

#define VIRTIO_RING       32 /* descriptors of a queue */
#define VIRTIO_TIMEOUT    (5 * TICKS_PER_SEC)
#define VIRTIO_ID_BLOCK   2
#define VIRTIO_ID_CONSOLE 3
#define VIRTIO_ID_ENTROPY 4

extern const struct bus virtio_bus;
#define MATCH_VIRTIO(number) {.bus = &virtio_bus, .id = (number)}

struct virtio_buffer {
    void *data;
    u32 len;
    bool device_writes;
};

struct virtio_desc { /* §2.7.5 */
    u64 addr;
    u32 len;
    u16 flags, next;
};

struct virtio_avail { /* §2.7.6 */
    u16 flags, idx, ring[VIRTIO_RING];
};

struct virtio_used { /* §2.7.8 */
    u16 flags, idx;
    struct {
        u32 id, len;
    } ring[VIRTIO_RING];
};

struct virtio {
    struct device *dev;
    volatile u8 *regs; /* the transport's */
    u32 version;       /* of the transport: 1 legacy, 2 */
    u64 features;
    struct spinlock lock;
    struct virtio_desc *desc;
    struct virtio_avail *avail;
    volatile struct virtio_used *used;
    u16 free_head, nfree;                     /* (lock) chain of free descriptors */
    u16 next[VIRTIO_RING];                    /* (lock) links of all chains */
    u32 length[VIRTIO_RING];                  /* (lock) of a chain in flight, by its head */
    u16 used_seen;                            /* (lock) */
    bool broken;                              /* (lock) the device is gone or did not answer */
    struct virtio_request *done[VIRTIO_RING]; /* (lock) request of each chain's head */
    struct waitq wait;                        /* room in the ring */
    void (*config_changed)(struct virtio *v); /* or 0; in the interrupt */
};

struct virtio_request {
    bool finished;
    int error;   /* 0 or -EIO */
    u32 written; /* bytes the device wrote */
    struct waitq wait;
};

/*
 * Part of a probe: negotiates (offered & wanted), sets up queue 0, sets DRIVER_OK. v must be in
 * memory of dev_zalloc. The bus resets the device before the probe and at its removal.
 */
int virtio_start(struct virtio *v, struct device *dev, u64 wanted);
/* In remove(): the device forgets the ring, and requests in flight end with -EIO. */
void virtio_stop(struct virtio *v);
/*
 * Submits n <= 8 buffers as one chain and sleeps until the device has used it: 0, or -EIO when the
 * device goes or does not answer for VIRTIO_TIMEOUT; it is broken from then on.
 */
int virtio_transfer(struct virtio *v, const struct virtio_buffer *buf, u32 n, u32 *written);
u64 virtio_config64(struct virtio *v, u32 offset);
u32 virtio_config32(struct virtio *v, u32 offset);

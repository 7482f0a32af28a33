/*
 * block.h: block devices and the block cache.
 *
 * A driver provides transfer() of whole 4 KiB blocks. File systems use the cache for metadata and
 * block_transfer() for file contents (the page cache holds those); reading /dev/vdX goes through
 * the cache. A disk may be removed while it is mounted: then every access is -EIO.
 */
#pragma once

#include "types.h"
#include "driver.h"
#include "list.h"
#include "lock.h"

#define BLOCK_SIZE 4096u

struct block_device {
    const char *name; /* "vda" */
    u64 blocks;       /* of BLOCK_SIZE */
    u64 bytes;        /* may end within the last block */
    bool read_only;
    /* one block between the device and a kernel buffer; sleeps; 0 or -EIO */
    int (*transfer)(struct block_device *bd, u64 block, void *buf, bool write);
    int (*flush)(struct block_device *bd);
    struct mutex lock;   /* protects the cache */
    struct list buffers; /* (lock) most recently used first */
    u32 nbuffers;
    u64 rdev;
    struct binding *binding;   /* its driver's */
    struct block_device *next; /* (disks_lock) */
};

/* A cached block. data may be read and written between block_get and block_put. */
struct buffer {
    struct list link;
    u64 block;
    int refs;
    bool dirty;
    u8 *data;
};

/* Part of a probe: makes /dev/NAME until the device goes; bd must be in memory of dev_zalloc. */
int block_register(struct device *dev, struct block_device *bd, u64 rdev);
void block_unregister(struct block_device *bd); /* in remove() */
/* The disk of a device number, or 0; bd stays valid until block_close, even without the device. */
struct block_device *block_open(u64 rdev);
void block_close(struct block_device *bd);
int block_transfer(struct block_device *bd, u64 block, void *buf, bool write);
struct buffer *block_get(struct block_device *bd, u64 block, int *err);
void block_put(struct block_device *bd, struct buffer *b, bool dirtied);
int block_sync(struct block_device *bd); /* writes dirty buffers back and flushes the device */
void block_invalidate(struct block_device *bd); /* block_sync, then drops unreferenced buffers */

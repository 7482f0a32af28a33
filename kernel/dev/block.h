/*
 * block.h: block devices and the block cache.
 *
 * A driver offers transfer() of whole 4 KiB blocks. File systems use the cache for metadata and
 * transfer() directly for file contents (the page cache holds those); reading /dev/vdX goes through
 * the cache.
 */
#pragma once

#include "types.h"
#include "list.h"
#include "lock.h"

#define BLOCK_SIZE 4096u

struct block_device {
    const char *name; /* "vda" */
    u64 blocks;       /* of BLOCK_SIZE */
    u64 bytes;
    bool read_only;
    /* one block between the device and a kernel buffer; sleeps; 0 or -EIO */
    int (*transfer)(struct block_device *bd, u64 block, void *buf, bool write);
    int (*flush)(struct block_device *bd);
    struct mutex lock;   /* cache */
    struct list buffers; /* (lock) most recently used first */
    u32 nbuffers;
};

/* A cached block. data may be read and written between block_get and block_put. */
struct buffer {
    struct list link;
    u64 block;
    int refs;
    bool dirty;
    u8 *data;
};

int block_register(struct block_device *bd, u64 rdev); /* as /dev/NAME */
struct buffer *block_get(struct block_device *bd, u64 block, int *err);
void block_put(struct block_device *bd, struct buffer *b, bool dirtied);
int block_sync(struct block_device *bd); /* writes what is dirty and flushes the device */
void block_invalidate(struct block_device *bd);

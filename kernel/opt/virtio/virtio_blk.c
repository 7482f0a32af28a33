/*
 * virtio_blk.c: block device (Virtio 1.2 §5.2). A request has three descriptors: header, data,
 * status. Each caller has one request in flight.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "opt/block/block.h"
#include "fs.h"
#include "klib.h"
#include "virtio.h"

#define F_RO    (1UL << 5)
#define F_FLUSH (1UL << 9)

#define T_IN    0
#define T_OUT   1
#define T_FLUSH 4

#define SECTOR 512

struct request { /* §5.2.6; on the heap, where the device can reach it */
    u32 type, reserved;
    u64 sector;
    u8 status;
};

struct vblk {
    struct block_device bd;
    struct virtio v;
    char name[8];
    u32 letter;
};

static int do_request(struct vblk *d, u32 type, u64 sector, void *data, u32 len)
{
    struct request *r = kzalloc(sizeof(*r));
    struct virtio_buffer buf[3];
    u32 n = 0;
    int err;

    if (!r)
        return -ENOMEM;
    r->type = type;
    r->sector = sector;
    r->status = 0xff;
    buf[n++] = (struct virtio_buffer){r, 16, false};
    if (len)
        buf[n++] = (struct virtio_buffer){data, len, type == T_IN};
    buf[n++] = (struct virtio_buffer){&r->status, 1, true};
    err = virtio_transfer(&d->v, buf, n, NULL);
    if (!err && *(volatile u8 *)&r->status)
        err = -EIO;
    kfree(r);
    return err;
}

/* The last block may be shorter: an image need not be a multiple of 4 KiB. */
static int vblk_transfer(struct block_device *bd, u64 block, void *buf, bool write)
{
    struct vblk *d = container_of(bd, struct vblk, bd);
    u64 at = block * BLOCK_SIZE;

    if (write && bd->read_only)
        return -EROFS;
    return do_request(d, write ? T_OUT : T_IN, at / SECTOR, buf,
                      (u32)MIN(BLOCK_SIZE, bd->bytes - at));
}

static int vblk_flush(struct block_device *bd)
{
    struct vblk *d = container_of(bd, struct vblk, bd);

    return d->v.features & F_FLUSH ? do_request(d, T_FLUSH, 0, NULL, 0) : 0;
}

static u32 letters; /* (driver_lock) bit n: /dev/vd('a' + n) exists */

static int blk_probe(struct device *dev)
{
    struct vblk *d = dev_zalloc(dev, sizeof(*d));
    u32 letter = 0;
    int err;

    if (!d)
        return -ENOMEM;
    dev->priv = d;
    err = virtio_start(&d->v, dev, F_RO | F_FLUSH);
    if (err)
        return err;
    while (letters & 1u << letter)
        letter++;
    ksnprintf(d->name, sizeof(d->name), "vd%c", 'a' + letter);
    d->letter = letter;
    d->bd.name = d->name;
    d->bd.bytes = virtio_config64(&d->v, 0) * SECTOR;
    d->bd.blocks = (d->bd.bytes + BLOCK_SIZE - 1) / BLOCK_SIZE;
    d->bd.read_only = d->v.features & F_RO;
    d->bd.transfer = vblk_transfer;
    d->bd.flush = vblk_flush;
    err = block_register(dev, &d->bd, MKDEV(254, 16 * letter));
    if (!err)
        letters |= 1u << letter;
    return err;
}

/* Writes dirty blocks back while the disk still answers. */
static void blk_shutdown(struct device *dev)
{
    struct vblk *d = dev->priv;

    block_sync(&d->bd);
}

static void blk_remove(struct device *dev)
{
    struct vblk *d = dev->priv;

    virtio_stop(&d->v);
    block_unregister(&d->bd);
    letters &= ~(1u << d->letter);
}

DRIVER(virtio_blk){
    .match = MATCH_VIRTIO(VIRTIO_ID_BLOCK),
    .probe = blk_probe,
    .remove = blk_remove,
    .shutdown = blk_shutdown,
};

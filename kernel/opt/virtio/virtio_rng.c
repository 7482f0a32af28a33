/*
 * virtio_rng.c: entropy device (Virtio 1.2 §5.4), as /dev/hwrng; probe also stirs 64 bytes into the
 * kernel's generator. On kcovbox they come from the seed of the run, so runs stay reproducible.
 */
#include "abi/errno.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "virtio.h"
#include "opt/memdevices/stir.h"

#define CHUNK 64

struct rng {
    struct virtio v;
    struct mutex lock; /* protects buf */
    u8 *buf;           /* page */
};

static i64 rng_read(struct file *file, struct iter *to, i64 *pos)
{
    struct rng *r = file->priv;
    i64 done = 0;

    mutex_lock(&r->lock);
    while (to->left) {
        struct virtio_buffer b = {r->buf, (u32)MIN(to->left, CHUNK), true};
        u32 n = 0;
        u64 moved;

        if (virtio_transfer(&r->v, &b, 1, &n))
            break;
        n = MIN(n, b.len);
        moved = iter_put(to, r->buf, n);
        done += moved;
        if (!n || moved < n)
            break;
    }
    mutex_unlock(&r->lock);
    return done ? done : -EIO;
}

static int rng_open(struct inode *inode, struct file *file)
{
    file->fflags |= FF_STREAM;
    return 0;
}

static const struct file_ops rng_ops = {.open = rng_open, .read = rng_read};

static int rng_probe(struct device *dev)
{
    struct rng *r = dev_zalloc(dev, sizeof(*r));
    struct virtio_buffer b;
    u32 n = 0;
    int err;

    if (!r)
        return -ENOMEM;
    dev->priv = r;
    mutex_init(&r->lock, "hwrng");
    r->buf = dev_dma_alloc(dev, CHUNK);
    if (!r->buf)
        return -ENOMEM;
    err = virtio_start(&r->v, dev, 0);
    if (err)
        return err;
    b = (struct virtio_buffer){r->buf, CHUNK, true};
    err = virtio_transfer(&r->v, &b, 1, &n);
    if (err)
        return err;
    random_stir(r->buf, MIN(n, CHUNK));
    return dev_node(dev, "hwrng", &rng_ops, 0600, MKDEV(10, 183), r);
}

static void rng_remove(struct device *dev)
{
    struct rng *r = dev->priv;

    virtio_stop(&r->v);
}

DRIVER(virtio_rng){
    .match = MATCH_VIRTIO(VIRTIO_ID_ENTROPY),
    .probe = rng_probe,
    .remove = rng_remove,
};

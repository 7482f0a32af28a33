/*
 * block.c: the block cache, and block devices as files.
 *
 * A device caches about CACHED buffers: a new one evicts the least recently used that has no
 * reference, after writing it back if it is dirty. Writes reach the device at eviction, block_sync
 * or umount.
 */
#include "block.h"
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "opt/hotplug/hotplug.h"
#include "proc.h"
#include "vm.h"

#define CACHED 64

#define BLKGETSIZE   0x1260
#define BLKSSZGET    0x1268
#define BLKFLSBUF    0x1261
#define BLKGETSIZE64 0x80081272

static struct buffer *find(struct block_device *bd, u64 block)
{
    list_for_each(b, &bd->buffers, struct buffer, link)
        if (b->block == block)
            return b;
    return NULL;
}

int block_transfer(struct block_device *bd, u64 block, void *buf, bool write)
{
    int err = -EIO;

    if (binding_enter(bd->binding)) {
        err = bd->transfer(bd, block, buf, write);
        binding_leave(bd->binding);
    }
    return err;
}

static int flush(struct block_device *bd)
{
    int err = -EIO;

    if (!bd->flush)
        return 0;
    if (binding_enter(bd->binding)) {
        err = bd->flush(bd);
        binding_leave(bd->binding);
    }
    return err;
}

static int write_back(struct block_device *bd, struct buffer *b)
{
    int err = b->dirty ? block_transfer(bd, b->block, b->data, true) : 0;

    if (!err)
        b->dirty = false;
    return err;
}

static void buffer_free(struct block_device *bd, struct buffer *b)
{
    list_remove(&b->link);
    bd->nbuffers--;
    page_put(va_to_pa(b->data));
    kfree(b);
}

/* Evicts the least recently used buffer without a reference. */
static void make_room(struct block_device *bd)
{
    struct buffer *victim = NULL;

    list_for_each(b, &bd->buffers, struct buffer, link)
        if (!b->refs)
            victim = b;
    if (victim && !write_back(bd, victim))
        buffer_free(bd, victim);
}

static struct buffer *read_in(struct block_device *bd, u64 block, int *err)
{
    struct buffer *b = kzalloc(sizeof(*b));
    pa_t pa = b ? page_alloc_zeroed() : 0;

    *err = pa ? 0 : -ENOMEM;
    if (pa)
        *err = block_transfer(bd, block, pa_to_va(pa), false);
    if (*err) {
        if (pa)
            page_put(pa);
        kfree(b);
        return NULL;
    }
    b->block = block;
    b->data = pa_to_va(pa);
    list_push_front(&bd->buffers, &b->link);
    bd->nbuffers++;
    return b;
}

struct buffer *block_get(struct block_device *bd, u64 block, int *err)
{
    struct buffer *b;

    *err = block < bd->blocks ? 0 : -EIO;
    if (*err)
        return NULL;
    mutex_lock(&bd->lock);
    b = find(bd, block);
    if (b) {
        list_remove(&b->link);
        list_push_front(&bd->buffers, &b->link);
    } else {
        if (bd->nbuffers >= CACHED)
            make_room(bd);
        b = read_in(bd, block, err);
    }
    if (b)
        b->refs++;
    mutex_unlock(&bd->lock);
    return b;
}

void block_put(struct block_device *bd, struct buffer *b, bool dirtied)
{
    mutex_lock(&bd->lock);
    b->refs--;
    b->dirty |= dirtied;
    mutex_unlock(&bd->lock);
}

int block_sync(struct block_device *bd)
{
    int err = 0;

    mutex_lock(&bd->lock);
    list_for_each(b, &bd->buffers, struct buffer, link) {
        int failed = write_back(bd, b);

        err = err ? err : failed;
    }
    mutex_unlock(&bd->lock);
    return err ? err : flush(bd);
}

void block_invalidate(struct block_device *bd)
{
    block_sync(bd);
    mutex_lock(&bd->lock);
    list_for_each_safe(b, &bd->buffers, struct buffer, link)
        if (!b->refs && !b->dirty)
            buffer_free(bd, b);
    mutex_unlock(&bd->lock);
}

static int bd_open(struct inode *inode, struct file *file)
{
    struct block_device *bd = file->priv;

    return bd->read_only && file->fflags & FF_WRITE ? -EROFS : 0;
}

static i64 move(struct file *file, struct iter *it, i64 *pos, bool write)
{
    struct block_device *bd = file->priv;
    i64 done = 0;
    int err = 0;

    if (write && (u64)*pos >= bd->bytes && it->left)
        return -ENOSPC;
    while (it->left && (u64)*pos < bd->bytes) {
        u64 in_block = *pos % BLOCK_SIZE;
        u64 n = MIN(MIN(BLOCK_SIZE - in_block, it->left), bd->bytes - *pos), moved;
        struct buffer *b = block_get(bd, *pos / BLOCK_SIZE, &err);

        if (!b)
            break;
        moved = write ? iter_get(it, b->data + in_block, n) : iter_put(it, b->data + in_block, n);
        block_put(bd, b, write && moved);
        *pos += moved;
        done += moved;
        if (moved < n) {
            err = -EFAULT;
            break;
        }
    }
    return done ? done : err;
}

static i64 bd_read(struct file *file, struct iter *to, i64 *pos)
{
    return move(file, to, pos, false);
}

static i64 bd_write(struct file *file, struct iter *from, i64 *pos)
{
    return move(file, from, pos, true);
}

static i64 bd_lseek(struct file *file, i64 offset, int whence)
{
    struct block_device *bd = file->priv;

    if (whence < 0 || whence > 2)
        return -EINVAL;
    offset = seek_from(whence == 1 ? file->pos : whence == 2 ? (i64)bd->bytes : 0, offset);
    return offset < 0 ? offset : (file->pos = offset);
}

static long bd_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct block_device *bd = file->priv;
    u64 sectors = bd->bytes / 512;
    int sector = 512;

    switch (cmd) {
    case BLKGETSIZE64:
        return put_user(arg, bd->bytes);
    case BLKGETSIZE:
        return put_user(arg, sectors);
    case BLKSSZGET:
        return put_user(arg, sector);
    case BLKFLSBUF:
        if (curproc->euid)
            return -EACCES;
        block_invalidate(bd); /* as on Linux, fsync tells errors of the device */
        return 0;
    default:
        return -ENOTTY;
    }
}

static int bd_fsync(struct file *file)
{
    return block_sync(file->priv);
}

static void bd_release(struct file *file)
{
    if (file->fflags & FF_WRITE)
        block_sync(file->priv);
}

static const struct file_ops bd_ops = {
    .open = bd_open,
    .release = bd_release,
    .read = bd_read,
    .write = bd_write,
    .lseek = bd_lseek,
    .ioctl = bd_ioctl,
    .fsync = bd_fsync,
};

static struct spinlock disks_lock = SPINLOCK_INIT("disks");
static struct block_device *disks;

struct block_device *block_open(u64 rdev)
{
    struct block_device *bd;

    spin_lock(&disks_lock);
    for (bd = disks; bd && bd->rdev != rdev; bd = bd->next)
        ;
    if (bd)
        binding_get(bd->binding);
    spin_unlock(&disks_lock);
    return bd;
}

void block_close(struct block_device *bd)
{
    binding_put(bd->binding);
}

/* At the end of the binding: no references are left, and dirty data is lost with the device. */
static void free_buffers(void *arg)
{
    struct block_device *bd = arg;

    list_for_each_safe(b, &bd->buffers, struct buffer, link)
        buffer_free(bd, b);
}

void block_unregister(struct block_device *bd)
{
    spin_lock(&disks_lock);
    for (struct block_device **p = &disks; *p; p = &(*p)->next)
        if (*p == bd) {
            *p = bd->next;
            break;
        }
    spin_unlock(&disks_lock);
}

int block_register(struct device *dev, struct block_device *bd, u64 rdev)
{
    int err;

    mutex_init(&bd->lock, "block");
    list_init(&bd->buffers);
    bd->rdev = rdev;
    bd->binding = dev->binding;
    err = dev_at_end(dev, free_buffers, bd);
    if (!err)
        err = dev_node(dev, bd->name, &bd_ops, S_IFBLK | 0660, rdev, bd);
    if (err)
        return err;
    spin_lock(&disks_lock);
    bd->next = disks;
    disks = bd;
    spin_unlock(&disks_lock);
    return 0;
}

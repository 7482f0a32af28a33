/*
 * memdevices.c: more devices without hardware: /dev/zero, full, random, urandom, kmsg, marker.
 */
#include "abi/errno.h"
#include "boot.h"
#include "dev/dev.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "vm.h"
#include "opt/memdevices/stir.h"

static i64 zero_read(struct file *file, struct iter *to, i64 *pos)
{
    u64 n = to->left, moved = iter_zero(to, n);

    return moved || !n ? (i64)moved : -EFAULT;
}

/* Leaves vma->ops 0, so the mapping is anonymous memory: zeroed pages on demand. */
static int zero_mmap(struct file *file, struct vma *vma)
{
    return 0;
}

static i64 full_write(struct file *file, struct iter *from, i64 *pos)
{
    return -ENOSPC;
}

static i64 random_read(struct file *file, struct iter *to, i64 *pos)
{
    u8 chunk[64];
    i64 done = 0;

    while (to->left) {
        u64 n = MIN(to->left, sizeof(chunk)), moved;

        random_bytes(chunk, n);
        moved = iter_put(to, chunk, n);
        done += moved;
        if (moved < n)
            return done ? done : -EFAULT;
    }
    return done;
}

static i64 random_write(struct file *file, struct iter *from, i64 *pos)
{
    u8 chunk[64];
    i64 done = 0;

    while (from->left) {
        u64 n = MIN(from->left, sizeof(chunk)), moved = iter_get(from, chunk, n);

        random_stir(chunk, moved);
        done += moved;
        if (moved < n)
            return done ? done : -EFAULT;
    }
    return done;
}

static i64 kmsg_write(struct file *file, struct iter *from, i64 *pos)
{
    char line[256];
    i64 done = 0;

    while (from->left) {
        u64 n = iter_get(from, line, sizeof(line));

        if (!n)
            return done ? done : -EFAULT;
        console_write(line, n);
        done += n;
    }
    return done;
}

#define FINISHER_MARK 0x4d4b

/* A number from 0 to 65535 marks a moment for the host; the guest sees nothing of it. */
static i64 marker_write(struct file *file, struct iter *from, i64 *pos)
{
    char text[16];
    const char *end;
    u64 n = iter_get(from, text, sizeof(text) - 1), number;

    if (!n)
        return -EFAULT;
    text[n] = 0;
    number = strtou64(text, &end, 10);
    if (end == text || (*end && *end != '\n') || number > 0xffff)
        return -EINVAL;
    finisher_write((u32)number << 16 | FINISHER_MARK);
    return (i64)n;
}

#define COMMON .lseek = null_lseek

static const struct file_ops zero_ops = {
    .read = zero_read, .write = null_write, .mmap = zero_mmap, COMMON};
static const struct file_ops full_ops = {
    .read = zero_read, .write = full_write, .mmap = zero_mmap, COMMON};
static const struct file_ops random_ops = {.read = random_read, .write = random_write, COMMON};
static const struct file_ops kmsg_ops = {.write = kmsg_write, COMMON};
static const struct file_ops marker_ops = {.write = marker_write, COMMON};

static void memdevices_init(void)
{
    devfs_register_dev("zero", &zero_ops, 0666, MKDEV(1, 5), NULL);
    devfs_register_dev("full", &full_ops, 0666, MKDEV(1, 7), NULL);
    devfs_register_dev("random", &random_ops, 0666, MKDEV(1, 8), NULL);
    devfs_register_dev("urandom", &random_ops, 0666, MKDEV(1, 9), NULL);
    devfs_register_dev("kmsg", &kmsg_ops, 0200, MKDEV(1, 11), NULL);
    devfs_register_dev("marker", &marker_ops, 0222, MKDEV(10, 240), NULL);
}
INITCALL(memdevices_init);

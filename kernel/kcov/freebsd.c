/* kcov: not instrumented: part of the kcov driver */
/*
 * FreeBSD: options COVERAGE + options KCOV, node /dev/kcov. Arguments are ints by value (_IOWINT).
 *
 *     OPEN --set size--> READY --enable--> RUNNING --disable, owner exits--> READY
 *     RUNNING --last close--> records nothing, freed when the owner exits
 *
 * Switch records follow the real kernel (operand with bit 0 set, case, no CONST bit), not its
 * manual. mmap accepts only the whole area, read-write and shared, and ignores the offset.
 *
 * Divergence: an owner releases its descriptor at exit, before a joiner wakes, not when the thread
 * structure is reaped. close(2) of a running descriptor returns 0.
 */
#include "freebsd.h"

#ifdef CONFIG_KCOV

#define KIOENABLE     0x20046302
#define KIODISABLE    0x20006303
#define KIOSETBUFSIZE 0x20046304

u64 kcov_max_entries = 1 << 24; /* kern.kcov.max_entries */

static int mode(u64 value, u32 *record)
{
    switch (value) {
    case 0:
        *record = KCOV_RECORD_PC;
        return 0;
    case 1:
        *record = KCOV_RECORD_CMP;
        return 0;
    default:
        return -EINVAL;
    }
}

static int may_size(const struct kcov_desc *desc, u64 words)
{
    /* command() checks kern.kcov.max_entries first */
    if (desc->state != KCOV_NONE)
        return -EBUSY;
    if (words < 2)
        return -EINVAL;
    return 0;
}

static int may_enable(const struct kcov_desc *desc, u64 value, u32 *record)
{
    if (desc->state != KCOV_READY)
        return -EBUSY;
    if (current->kcov.desc)
        return -EINVAL;
    return mode(value, record);
}

static int may_disable(const struct kcov_desc *desc, u64 value)
{
    if (desc->state != KCOV_TRACE || desc->owner != current)
        return -EINVAL;
    return 0;
}

static long command(struct file *file, u32 cmd, void *data)
{
    struct kcov_desc *desc = file->priv;

    switch (cmd) {
    case KIOSETBUFSIZE:
        if (*(u32 *)data > kcov_max_entries && desc->state == KCOV_NONE)
            return -EINVAL;
        return kcov_set_size(desc, *(u32 *)data);
    case KIOENABLE:
        return kcov_enable(desc, *(u32 *)data);
    case KIODISABLE:
        return kcov_disable(desc, 0);
    default:
        return -EINVAL;
    }
}

static long kcov_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_bsd(file, cmd, arg, command);
}

static int map(struct file *file, struct vma *vma)
{
    u64 words;
    struct vm_pages *area = kcov_area_of(file->priv, &words);

    if (vma->prot != (VM_READ | VM_WRITE) || !(vma->flags & VMA_SHARED) || (i64)vma->offset < 0)
        return -EINVAL;
    if (!area || (vma->end - vma->start) / 8 != words)
        return -EINVAL;
    vma->offset = 0;
    return kcov_map_area(file, vma, area);
}

static i64 no_io(struct file *file, struct iter *it, i64 *pos)
{
    return -ENODEV;
}

static const struct file_ops ops = {
    .open = kcov_open,
    .release = kcov_release,
    .read = no_io,
    .write = no_io,
    .ioctl = kcov_ioctl,
    .mmap = map,
};

static int add_node(void)
{
    return devfs_register("kcov", &ops, 0600);
}

const struct kcov_dialect kcov_dialect = {
    .close_stops = true,
    .file_flags = FF_ANY_OFFSET,
    .ctx_flags = KCOV_CTXF_SWITCH_FREEBSD | KCOV_CTXF_DATA_FIRST,
    .may_size = may_size,
    .may_enable = may_enable,
    .may_disable = may_disable,
    .add_node = add_node,
    .init = kcov_freebsd_init,
};

/* The host knows the dialect of an image by this name (host/guest.ts). */
extern const struct kcov_dialect kcov_freebsd __attribute__((alias("kcov_dialect")));
#endif

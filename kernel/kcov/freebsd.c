/* kcov: not instrumented: part of the kcov driver */
/*
 * FreeBSD: options COVERAGE + options KCOV, node /dev/kcov. Arguments are ints by value (_IOWINT).
 *
 *     OPEN --set size--> READY --enable--> RUNNING --disable, owner exits--> READY
 *     RUNNING --last close--> records nothing, freed when the owner exits
 *
 * Switch records are what the real kernel writes (operand with bit 0 set, case, no CONST bit), not
 * what its manual says. mmap wants exactly the whole area, read-write and shared, and ignores the
 * offset.
 *
 * Divergence: an owner that exits lets go of its descriptor at exit, before a joiner wakes, not
 * when the thread structure is reaped. close(2) of a running descriptor returns 0.
 */
#include "freebsd.h"

#ifdef CONFIG_KCOV

#define KIOENABLE     0x20046302
#define KIODISABLE    0x20006303
#define KIOSETBUFSIZE 0x20046304

u64 kcov_max_entries = 1 << 24; /* kern.kcov.max_entries */

static const struct kcov_rule set_size[] = {
    {IF_NOT_FRESH, EBUSY},
    {IF_BAD_SIZE, EINVAL},
    {COND_END, 0},
};
static const struct kcov_rule enable[] = {
    {IF_NOT_READY, EBUSY},
    {IF_THREAD_BUSY, EINVAL},
    {IF_BAD_MODE, EINVAL},
    {COND_END, 0},
};
static const struct kcov_rule disable[] = {
    {IF_NOT_TRACING, EINVAL},
    {IF_NOT_OWNER, EINVAL},
    {COND_END, 0},
};

static u32 mode(u64 value, int *error)
{
    switch (value) {
    case 0:
        return KCOV_RECORD_PC;
    case 1:
        return KCOV_RECORD_CMP;
    default:
        *error = EINVAL;
        return 0;
    }
}

static long command(struct file *file, u32 cmd, void *data)
{
    struct kcov_desc *desc = kcov_desc_of(file);

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
    struct vm_pages *area = kcov_area_of(kcov_desc_of(file), &words);

    if (vma->prot != (VM_READ | VM_WRITE) || !(vma->flags & VMA_SHARED) || (i64)vma->offset < 0)
        return -EINVAL;
    if (!area || (vma->end - vma->start) / 8 != words)
        return -EINVAL;
    vma->offset = 0;
    return kcov_map_area(file, vma, area);
}

static const struct file_ops ops = {
    .open = kcov_open,
    .release = kcov_release,
    .read = kcov_no_device_io,
    .write = kcov_no_device_io,
    .ioctl = kcov_ioctl,
    .mmap = map,
};

const struct kcov_dialect kcov_freebsd = {
    .name = "freebsd",
    .close_stops = true,
    .file_flags = FF_ANY_OFFSET,
    .ctx_flags = KCOV_CTXF_SWITCH_FREEBSD | KCOV_CTXF_DATA_FIRST,
    .words_min = 2,
    .words_max = ~0U, /* kern.kcov.max_entries is looked at before */
    .set_size = set_size,
    .enable = enable,
    .disable = disable,
    .mode = mode,
    .file_ops = &ops,
    .init = kcov_freebsd_init,
};
#endif

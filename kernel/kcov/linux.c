/* kcov: not instrumented: part of the kcov driver */
/*
 * Linux (kernel/kcov.c 6.12): CONFIG_KCOV, node /sys/kernel/debug/kcov. Arguments by value. With
 * CONFIG_KCOV_UNIQ also the modes of the UNIQ series of January 2025 (never merged): a descriptor
 * reports each record once, and edges go to an area of their own.
 *
 *     fresh --INIT_TRACE--> INIT --ENABLE, REMOTE_ENABLE--> TRACE --DISABLE, owner exits--> INIT
 *     TRACE --close, last munmap--> still recording until the owner exits
 *
 * A mapping holds the open file. Context switches are muted. Remote coverage: linux-remote.c.
 *
 * Divergence: edge area and seen-sets are allocated when first needed, so mmap or ENABLE returns
 * ENOMEM for them, not INIT_TRACE.
 */
#include "linux.h"
#include "fs.h"
#include "opt/toyusb/toyusb.h"

#ifdef CONFIG_KCOV

#define KCOV_INIT_TRACE    0x80086301
#define KCOV_ENABLE        0x6364
#define KCOV_DISABLE       0x6365
#define KCOV_REMOTE_ENABLE 0x40186366

#define SEEN_BUCKETS_LOG2 15

#define ENOTSUPP 524 /* kernel-internal, but the real kernel lets programs see it */

/* 0 and 1 are plain; bits 1 and 2 of any other value select UNIQ_PC and UNIQ_EDGE; 8 alone CMP. */
int kcov_linux_mode(u64 value, u32 *record)
{
    bool compares = HAS_OPTION(CONFIG_KCOV_ENABLE_COMPARISONS);

    *record = value ? KCOV_RECORD_CMP : KCOV_RECORD_PC;
    if (value <= 1)
        return value && !compares ? -ENOTSUPP : 0;
    if (!HAS_OPTION(CONFIG_KCOV_UNIQ))
        return -EINVAL;
    *record = (value & 2 ? KCOV_RECORD_UNIQ_PC : 0) | (value & 4 ? KCOV_RECORD_UNIQ_EDGE : 0);
    if (value == 8) {
        *record = KCOV_RECORD_UNIQ_CMP;
        return compares ? 0 : -EOPNOTSUPP;
    }
    return *record ? 0 : -EINVAL;
}

static int may_size(const struct kcov_desc *desc, u64 words)
{
    if (words < 2 || words > 0x7fffffff / 8)
        return -EINVAL;
    if (desc->state != KCOV_NONE)
        return -EBUSY;
    return 0;
}

static int may_enable(const struct kcov_desc *desc, u64 value, u32 *record)
{
    if (desc->state != KCOV_READY)
        return -EINVAL;
    if (desc->owner || current->kcov.desc)
        return -EBUSY;
    return kcov_linux_mode(value, record);
}

static int may_disable(const struct kcov_desc *desc, u64 value)
{
    if (value || current->kcov.desc != desc)
        return -EINVAL;
    return 0;
}

/* A seen-set in new memory, laid out for both recorders; again, if another thread was first. */
static bool provide_set(struct vm_pages **area, u64 nodes, u32 node_words)
{
    u64 head = sizeof(struct kcov_seen) + (4UL << SEEN_BUCKETS_LOG2);
    u64 node_bytes = KCOV_SEEN_NODE_HEADER + 8UL * node_words;
    struct kcov_seen *set;

    if (!kcov_provide(area, (head + nodes * node_bytes) / 8))
        return false;
    set = vm_pages_addr(*area);
    set->buckets_log2 = SEEN_BUCKETS_LOG2;
    set->node_words = node_words;
    set->nodes = nodes;
    set->buckets = (*area)->pa + sizeof(struct kcov_seen);
    set->pool = (*area)->pa + head;
    return true;
}

/* Provides seen-sets and edge area for the UNIQ modes. pc and cmp records share the main set. */
static bool provide_uniq(struct kcov_desc *desc, u32 record)
{
    if (record & (KCOV_RECORD_UNIQ_PC | KCOV_RECORD_UNIQ_CMP)) {
        if (!provide_set(&desc->seen, desc->words, KCOV_CMP_WORDS))
            return false;
        desc->ctx.seen = desc->seen->pa;
    }
    if (record & KCOV_RECORD_UNIQ_EDGE) {
        if (!kcov_provide(&desc->edge_area, desc->words) ||
            !provide_set(&desc->edge_seen, desc->words, 1))
            return false;
        desc->ctx.edge_area = desc->edge_area->pa;
        desc->ctx.edge_seen = desc->edge_seen->pa;
    }
    return true;
}

static long enable_trace(struct kcov_desc *desc, u64 value)
{
    u32 record;

    spin_lock(&kcov_lock);
    long result = may_enable(desc, value, &record);
    spin_unlock(&kcov_lock);
    if (result)
        return result;
    if (!provide_uniq(desc, record))
        return -ENOMEM;
    return kcov_enable(desc, value);
}

/* Like kcov_task_reset, also resets a common handle that the task inherited. */
static long disable_trace(struct kcov_desc *desc, u64 value)
{
    if (value == 0 && current->kcov.remote_desc == desc)
        return kcov_linux_remote_disable(desc);
    long result = kcov_disable(desc, value);
    if (!result)
        current->kcov.common_handle = 0;
    return result;
}

static long kcov_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct kcov_desc *desc = file->priv;

    switch (cmd) {
    case KCOV_INIT_TRACE:
        return kcov_set_size(desc, arg);
    case KCOV_ENABLE:
        return enable_trace(desc, arg);
    case KCOV_DISABLE:
        return disable_trace(desc, arg);
    case KCOV_REMOTE_ENABLE:
        return kcov_linux_remote_enable(desc, arg);
    default:
        return -ENOTTY;
    }
}

static int map(struct file *file, struct vma *vma)
{
    struct kcov_desc *desc = file->priv;
    u64 words;
    struct vm_pages *area = kcov_area_of(desc, &words);
    u64 bytes = words * 8;

    if (!area || vma->end - vma->start != bytes)
        return -EINVAL;
    if (vma->offset == 0)
        return kcov_map_area(file, vma, area);
#ifdef CONFIG_KCOV_UNIQ
    if (vma->offset == bytes) {
        if (!kcov_provide(&desc->edge_area, desc->words))
            return -ENOMEM;
        vma->offset = 0;
        return kcov_map_area(file, vma, desc->edge_area);
    }
#endif
    return -EINVAL;
}

static const struct file_ops ops = {
    .open = kcov_open,
    .release = kcov_release,
    .ioctl = kcov_ioctl,
    .mmap = map,
};

/* debugfs is mounted as init does on a real system. */
static int add_node(void)
{
    int error = debugfs_register("kcov", &ops, 0600, NULL);

    return error ? error : fs_mount("debugfs", "/sys/kernel/debug", "debugfs");
}

const struct kcov_dialect kcov_dialect = {
    .mute_sched = true,
    .deaf_in_handlers = true,
    .map_pins_file = true,
    .map_at_once = true,
    .allocates_first = true,
    .file_flags = FF_STREAM,
    .may_size = may_size,
    .may_enable = may_enable,
    .may_disable = may_disable,
    .add_node = add_node,
    .init = toyusb_init_gadget,
    .id_of_work = kcov_linux_handle_of,
    .enter = kcov_linux_section_start,
    .leave = kcov_linux_section_stop,
    .on_owner_exit = kcov_linux_remote_drop,
};

/* The host knows the dialect of an image by this name (host/guest.ts). */
extern const struct kcov_dialect kcov_linux __attribute__((alias("kcov_dialect")));
#endif

/* kcov: not instrumented: part of the kcov driver */
/*
 * OpenBSD (sys/dev/kcov.c 1.51): pseudo-device kcov, node /dev/kcov. Arguments by pointer.
 *
 *     NONE --set size--> READY --enable--> TRACE --disable, owner exits--> READY
 *     TRACE --last close--> DYING (records nothing) --owner exits--> freed
 *     READY --attach--> remote, forever: enable traces the process's deferred work, not the caller
 *
 * Divergences: close of an area that is mapped keeps its pages (area.c); the private buffers of
 * interrupts are allocated at the first attach, not at boot; attaching a descriptor that already
 * belongs to another process's remote is EBUSY.
 */
#include "remote.h"

#ifdef CONFIG_KCOV

#define KIOSETBUFSIZE   0x80084b01
#define KIOENABLE       0x80044b02
#define KIODISABLE      0x20004b03
#define KIOREMOTEATTACH 0x80084b04

#define REMOTE_COMMON 0
#define MAX_WORDS     (1UL << 19)

static int mode(u64 value, u32 *record)
{
    switch (value) {
    case 1:
        *record = KCOV_RECORD_PC;
        return 0;
    case 2:
        *record = KCOV_RECORD_CMP;
        return 0;
    default:
        return -EINVAL;
    }
}

static int may_size(const struct kcov_desc *desc, u64 words)
{
    if (desc->state != KCOV_NONE)
        return -EBUSY;
    if (words < 1 || words > MAX_WORDS)
        return -EINVAL;
    return 0;
}

static int may_enable(const struct kcov_desc *desc, u64 value, u32 *record)
{
    if (current->kcov.desc)
        return -EBUSY;
    if (desc->state != KCOV_READY)
        return -ENXIO;
    return mode(value, record);
}

static int may_disable(const struct kcov_desc *desc, u64 value)
{
    if (desc->owner != current)
        return -EPERM;
    return 0;
}

static int may_attach(const struct kcov_desc *desc, i32 subsystem)
{
    if (desc->state != KCOV_READY)
        return -ENXIO;
    if (subsystem != REMOTE_COMMON)
        return -EINVAL;
    if (desc->remote)
        return -EBUSY;
    return 0;
}

/* ---- Remotes: kcov_remote_register(9) ---- */

static void wait_for_sections(struct kcov_remote *r)
{
    struct kcov_remote_entry *e = kcov_remote_entry(r);
    wait_event_locked(&kcov_drained, &kcov_lock, e->sections == 0);
}

/* Frees the remote after its last section has ended. (k), dropped while waiting */
static void retire(struct kcov_remote *r)
{
    kcov_remote_entry(r)->state = KCOV_REMOTE_DYING;
    wait_for_sections(r);
    if (r->desc)
        r->desc->remote = NULL;
    kcov_remote_free(r);
    wake_up(&kcov_drained);
}

static bool is_dying(u64 subsystem, u64 id)
{
    struct kcov_remote *r = kcov_remote_find(subsystem, id);
    return r && kcov_remote_entry(r)->state == KCOV_REMOTE_DYING;
}

static void remote_register(u64 subsystem, u64 id)
{
    spin_lock(&kcov_lock);
    wait_event_locked(&kcov_drained, &kcov_lock, !is_dying(subsystem, id));
    if (!kcov_remote_find(subsystem, id) &&
        !kcov_remote_alloc(subsystem, id, KCOV_REMOTE_REGISTERED))
        kprintf("kcov: more than %d remotes\n", KCOV_REMOTES_MAX);
    spin_unlock(&kcov_lock);
}

static void remote_unregister(u64 subsystem, u64 id)
{
    spin_lock(&kcov_lock);
    struct kcov_remote *r = kcov_remote_find(subsystem, id);
    if (r && kcov_remote_entry(r)->state == KCOV_REMOTE_DYING)
        wait_event_locked(&kcov_drained, &kcov_lock, !is_dying(subsystem, id));
    else if (r)
        retire(r);
    spin_unlock(&kcov_lock);
}

static void remote_enter(struct kcov_section *s, u64 subsystem, u64 id)
{
    spin_lock(&kcov_lock);
    struct kcov_remote *r = kcov_remote_find(subsystem, id);
    bool listens = r && kcov_remote_entry(r)->state == KCOV_REMOTE_ATTACHED && r->desc &&
                   r->desc->state == KCOV_TRACE;
    if (listens && kcov_is_of_thread(s)) {
        if (current->kcov.desc || s->remote)
            panic("kcov: nested remote section in thread %d", current->tid);
        s->ctx.area = r->desc->area->pa;
        s->ctx.words = r->desc->words;
        kcov_section_begin(s, r, r->desc->remote_mode);
    } else if (listens && s->area && !s->remote) {
        kcov_section_begin(s, r, r->desc->remote_mode);
    }
    spin_unlock(&kcov_lock);
}

static void remote_leave(struct kcov_section *s)
{
    spin_lock(&kcov_lock);
    struct kcov_remote *r = s->remote; /* exists: retire() waits for this section */
    kcov_section_end(s, r->desc, true);
    if (kcov_remote_entry(r)->sections == 0)
        wake_up(&kcov_drained);
    spin_unlock(&kcov_lock);
}

static u64 id_of_work(const struct work_origin *origin)
{
    return origin->proc_id;
}

/* The key is the calling process; the id field of the argument is ignored. */
static long remote_attach(struct kcov_desc *desc, i32 subsystem)
{
    u64 id = curproc->id;
    long result;

    spin_lock(&kcov_lock);
    wait_event_locked(&kcov_drained, &kcov_lock, !is_dying(REMOTE_COMMON, id));
    result = may_attach(desc, subsystem);
    if (!result && kcov_remote_find(REMOTE_COMMON, id))
        result = -EBUSY;
    struct kcov_remote *r = NULL;
    if (!result && !(r = kcov_remote_alloc(REMOTE_COMMON, id, KCOV_REMOTE_ATTACHED)))
        result = -ENOMEM;
    if (!result) {
        r->desc = desc;
        kcov_remote_entry(r)->context = va_to_pa(&desc->ctx);
        desc->remote = r;
        desc->is_remote = true;
    }
    spin_unlock(&kcov_lock);
    if (!result && !kcov_hart_areas(MAX_WORDS))
        kprintf("kcov: no memory for interrupt buffers; remote sections in interrupts are lost\n");
    return result;
}

/* ---- Commands ---- */

/* Once attached, enable does not make the caller an owner, so its own calls are not traced. */
static long enable_any(struct kcov_desc *desc, u64 value)
{
    long result;

    if (!desc->is_remote)
        return kcov_enable(desc, value);
    spin_lock(&kcov_lock);
    result = may_enable(desc, value, &desc->remote_mode);
    if (!result)
        desc->state = KCOV_TRACE;
    spin_unlock(&kcov_lock);
    return result;
}

/*
 * Any thread may disable a remote. The real kernel then also clears the caller's own tracing, which
 * leaves a local descriptor of that thread in TRACE without an owner; so does this one. A local
 * descriptor that is already closed loses its last reference and is freed.
 */
static long disable_any(struct kcov_desc *desc)
{
    struct kcov_desc *local, *gone = NULL;
    long result;

    if (!desc->is_remote)
        return kcov_disable(desc, 0);
    spin_lock(&kcov_lock);
    result = desc->state == KCOV_TRACE ? 0 : -ENXIO;
    if (!result) {
        desc->state = KCOV_READY;
        if (desc->remote)
            wait_for_sections(desc->remote);
        if ((local = current->kcov.desc) != NULL && !(gone = kcov_disown(local)))
            local->state = KCOV_TRACE;
    }
    spin_unlock(&kcov_lock);
    kcov_desc_free(gone);
    return result;
}

static long command(struct file *file, u32 cmd, void *data)
{
    struct kcov_desc *desc = file->priv;

    switch (cmd) {
    case KIOSETBUFSIZE:
        return kcov_set_size(desc, *(u64 *)data);
    case KIOENABLE:
        return enable_any(desc, *(u32 *)data);
    case KIODISABLE:
        return disable_any(desc);
    case KIOREMOTEATTACH:
        return remote_attach(desc, *(i32 *)data);
    default:
        return -ENOTTY;
    }
}

static long kcov_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_bsd(file, cmd, arg, command);
}

/* Every page must start below word N-1, so a page that holds only that word cannot be mapped. */
static int map(struct file *file, struct vma *vma)
{
    u64 words, last_page = vma->offset + (vma->end - vma->start) - PAGE_SIZE;
    struct vm_pages *area = kcov_area_of(file->priv, &words);

    if ((vma->prot & (VM_WRITE | VM_EXEC)) == (VM_WRITE | VM_EXEC))
        return -ENOTSUP;
    if (!area || last_page >= (words - 1) * 8 || last_page < vma->offset)
        return -EINVAL;
    /* As on OpenBSD a private mapping of a device becomes shared before the permission check. */
    if (vma->prot & VM_WRITE && !(file->fflags & FF_WRITE))
        return -EACCES;
    vma->flags |= VMA_SHARED;
    return kcov_map_area(file, vma, area);
}

static void release(struct file *file)
{
    struct kcov_desc *desc = file->priv;

    spin_lock(&kcov_lock);
    if (desc->is_remote)
        desc->state = KCOV_READY;
    if (desc->remote)
        retire(desc->remote);
    spin_unlock(&kcov_lock);
    kcov_release(file);
}

static i64 no_io(struct file *file, struct iter *it, i64 *pos)
{
    return -ENODEV;
}

static const struct file_ops ops = {
    .open = kcov_open,
    .release = release,
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
    .file_flags = FF_NO_PASS | FF_ANY_OFFSET,
    .may_size = may_size,
    .may_enable = may_enable,
    .may_disable = may_disable,
    .add_node = add_node,
    .id_of_work = id_of_work,
    .reg = remote_register,
    .unreg = remote_unregister,
    .enter = remote_enter,
    .leave = remote_leave,
};

/* The host knows the dialect of an image by this name (host/guest.ts). */
extern const struct kcov_dialect kcov_openbsd __attribute__((alias("kcov_dialect")));
#endif

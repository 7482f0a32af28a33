/* kcov: not instrumented: part of the kcov driver */
/*
 * NetBSD (sys/kern/subr_kcov.c 1.17): makeoptions KCOV + options KCOV, node /dev/kcov. Arguments by
 * pointer; the command numbers are OpenBSD's, the rules are not.
 *
 *     no area --set size--> idle --enable (NONE, PC, CMP)--> enabled --disable, owner exits--> idle
 *     enabled --last close--> orphan: still recording, owner can neither disable nor enable
 *     remote attach: enable, disable and mmap act on the mailbox, which has no owner
 *
 * Divergences: an owner releases its descriptor at exit, not when it is reaped; a mailbox gets its
 * area at the first attach, not when the driver registers it; entering an unknown one is a no-op.
 */
#include "remote.h"
#include "opt/toyusb/toyusb.h"

#ifdef CONFIG_KCOV

#define IOC_SETBUFSIZE    0x80084b01
#define IOC_ENABLE        0x80044b02
#define IOC_DISABLE       0x20004b03
#define IOC_REMOTE_ATTACH 0x80104b0a
#define IOC_REMOTE_DETACH 0x20004b0b

#define MAX_WORDS (1UL << 18)
#define MAX_BYTES (MAX_WORDS * 8)

static int mode(u64 value, u32 *record)
{
    switch (value) {
    case 0:
        *record = 0;
        return 0;
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
    if (desc->state == KCOV_TRACE)
        return -EBUSY;
    if (words < 2 || words > MAX_WORDS)
        return -EINVAL;
    if (desc->words)
        return -EEXIST;
    return 0;
}

static int may_enable(const struct kcov_desc *desc, u64 value, u32 *record)
{
    if (mode(value, record))
        return -EINVAL;
    if (desc->state == KCOV_TRACE || current->kcov.desc)
        return -EBUSY;
    if (!desc->words)
        return -ENOBUFS;
    return 0;
}

static int may_disable(const struct kcov_desc *desc, u64 value)
{
    if (desc->state != KCOV_TRACE || desc->owner != current)
        return -ENOENT;
    return 0;
}

static int may_attach(const struct kcov_desc *desc)
{
    if (desc->state == KCOV_TRACE)
        return -EEXIST;
    return 0;
}

static int may_detach(const struct kcov_desc *desc)
{
    if (desc->state == KCOV_TRACE)
        return -EEXIST;
    if (!desc->remote)
        return -ENOENT;
    return 0;
}

/* ---- Mailboxes ---- */

static void mailbox_register(u64 subsystem, u64 id)
{
    spin_lock(&kcov_lock);
    if (kcov_remote_find(subsystem, id))
        panic("kcov: remote %lx:%lx registered twice", subsystem, id);
    struct kcov_remote *r = kcov_remote_alloc(subsystem, id, KCOV_REMOTE_REGISTERED);
    if (r) {
        r->ctx.flags = kcov_dialect.ctx_flags;
        r->ctx.kind = KCOV_KIND_REMOTE_TASK;
        r->ctx.handle = id;
        r->ctx.syscall = ~0U;
        kcov_remote_entry(r)->context = va_to_pa(&r->ctx);
    }
    spin_unlock(&kcov_lock);
}

/*
 * The thread records into the mailbox itself, so that a disable takes effect within the section. A
 * section may also be entered while the mailbox is disabled: it then records nothing to its end.
 */
static void mailbox_enter(struct kcov_section *s, u64 subsystem, u64 id)
{
    spin_lock(&kcov_lock);
    struct kcov_remote *r = kcov_remote_find(subsystem, id);
    if (r && kcov_is_of_thread(s)) {
        if (r->busy || current->kcov.desc || s->remote)
            panic("kcov: remote section %lx:%lx entered twice or while traced", subsystem, id);
        r->busy = true;
        kcov_remote_entry(r)->sections++;
        kcov_remote_entry(r)->entered++;
        s->remote = r;
        if (r->enabled) {
            r->ctx.tid = (u32)current->tid;
            r->ctx.pid = (u32)curproc->pid;
            kcov_set_live(&r->ctx);
        }
    }
    spin_unlock(&kcov_lock);
}

static void mailbox_leave(struct kcov_section *s)
{
    spin_lock(&kcov_lock);
    kcov_set_live(NULL);
    s->remote->busy = false;
    kcov_remote_entry(s->remote)->sections--;
    s->remote = NULL;
    spin_unlock(&kcov_lock);
}

static void mailbox_off(struct kcov_remote *r)
{
    r->enabled = false;
    r->ctx.mode = 0;
}

/* The area of a mailbox comes with the first attach, and stays; so does the mailbox. */
static long attach(struct kcov_desc *desc, u64 subsystem, u64 id)
{
    long result;

    spin_lock(&kcov_lock);
    result = may_attach(desc);
    struct kcov_remote *r = kcov_remote_find(subsystem, id);
    if (!result && !r)
        result = -ENOENT;
    spin_unlock(&kcov_lock);
    if (!result && !kcov_provide(&r->area, MAX_WORDS))
        result = -ENOMEM;
    spin_lock(&kcov_lock);
    if (!result)
        result = may_attach(desc);
    if (!result) {
        r->ctx.area = r->area->pa;
        r->ctx.words = MAX_WORDS;
        desc->remote = r;
        kcov_remote_entry(r)->state = KCOV_REMOTE_ATTACHED;
    }
    spin_unlock(&kcov_lock);
    return result;
}

static long detach(struct kcov_desc *desc)
{
    spin_lock(&kcov_lock);
    long result = may_detach(desc);
    if (!result) {
        mailbox_off(desc->remote);
        desc->remote = NULL;
    }
    spin_unlock(&kcov_lock);
    return result;
}

/* ---- Commands: those of an attached descriptor act on the mailbox ---- */

static long set_size_any(struct kcov_desc *desc, u64 words)
{
    return desc->remote ? 0 : kcov_set_size(desc, words);
}

static long enable_any(struct kcov_desc *desc, u64 value)
{
    u32 record;

    if (mode(value, &record))
        return -EINVAL;
    spin_lock(&kcov_lock);
    struct kcov_remote *r = desc->remote;
    long result = r && r->enabled ? -EBUSY : 0;
    if (r && !result) {
        r->enabled = true;
        r->ctx.mode = record;
        r->ctx.descriptor = desc->ctx.descriptor;
    }
    spin_unlock(&kcov_lock);
    return r ? result : kcov_enable(desc, value);
}

static long disable_any(struct kcov_desc *desc)
{
    spin_lock(&kcov_lock);
    struct kcov_remote *r = desc->remote;
    long result = r && !r->enabled ? -ENOENT : 0;
    if (r && !result)
        mailbox_off(r);
    spin_unlock(&kcov_lock);
    return r ? result : kcov_disable(desc, 0);
}

static long command(struct file *file, u32 cmd, void *data)
{
    struct kcov_desc *desc = file->priv;

    switch (cmd) {
    case IOC_SETBUFSIZE:
        return set_size_any(desc, *(u64 *)data);
    case IOC_ENABLE:
        return enable_any(desc, *(u32 *)data);
    case IOC_DISABLE:
        return disable_any(desc);
    case IOC_REMOTE_ATTACH:
        return attach(desc, ((u64 *)data)[0], ((u64 *)data)[1]);
    case IOC_REMOTE_DETACH:
        return detach(desc);
    default:
        return -EINVAL;
    }
}

static long kcov_ioctl(struct file *file, u32 cmd, u64 arg)
{
    return ioctl_bsd(file, cmd, arg, command);
}

/* While attached, the area of the mailbox, which is permanent, so the area needs no reference. */
static struct vm_pages *mapped_area(struct kcov_desc *desc)
{
    spin_lock(&kcov_lock);
    struct vm_pages *area = desc->remote ? desc->remote->area : desc->area;
    spin_unlock(&kcov_lock);
    return area;
}

/* Maps any part of the page-rounded area; mprotect cannot add permissions later. */
static int map(struct file *file, struct vma *vma)
{
    u64 bytes = vma->end - vma->start;
    struct vm_pages *area = mapped_area(file->priv);
    u64 size = area ? area->npages * PAGE_SIZE : 0;

    if (vma->prot & VM_EXEC)
        return -EACCES;
    if ((i64)vma->offset < 0 || bytes > MAX_BYTES || vma->offset > MAX_BYTES)
        return -EINVAL;
    if (vma->offset + bytes > size)
        return -ENOMEM;
    vma->max_prot = vma->prot;
    vma->flags |= VMA_MAX_PROT_SET;
    return kcov_map_area(file, vma, area);
}

static void release(struct file *file)
{
    struct kcov_desc *desc = file->priv;

    spin_lock(&kcov_lock);
    if (desc->remote)
        mailbox_off(desc->remote);
    spin_unlock(&kcov_lock);
    kcov_release(file);
}

/* Never ready for anything. */
static u32 poll(struct file *file, struct poll_table *pt)
{
    return 0;
}

static i64 no_io(struct file *file, struct iter *it, i64 *pos)
{
    return -EOPNOTSUPP;
}

static const struct file_ops ops = {
    .open = kcov_open,
    .release = release,
    .read = no_io,
    .write = no_io,
    .ioctl = kcov_ioctl,
    .mmap = map,
    .poll = poll,
};

static int add_node(void)
{
    return devfs_register("kcov", &ops, 0600);
}

const struct kcov_dialect kcov_dialect = {
    .file_flags = FF_STREAM | FF_NO_STAT | FF_ANY_OFFSET,
    .ctx_flags = KCOV_CTXF_DATA_FIRST,
    .may_size = may_size,
    .may_enable = may_enable,
    .may_disable = may_disable,
    .add_node = add_node,
    .init = toyusb_init_vhci,
    .reg = mailbox_register,
    .enter = mailbox_enter,
    .leave = mailbox_leave,
};

/* The host knows the dialect of an image by this name (host/guest.ts). */
extern const struct kcov_dialect kcov_netbsd __attribute__((alias("kcov_dialect")));
#endif

/* kcov: not instrumented: part of the kcov driver */
/*
 * Linux remote coverage: a descriptor enabled for a set of handles collects the records of sections
 * started with one of them, in kernel threads and soft interrupts. A section records into a private
 * area; when it stops, as many whole records as fit are appended to the descriptor's area.
 *
 * A handle has its subsystem in byte 7 and an instance in the low 32 bits. The common handle of a
 * thread is inherited by its children and stored in work that it schedules (taskq.h).
 *
 * Divergence: the areas of sections in interrupts are allocated at the first REMOTE_ENABLE, not at
 * boot. ENABLE and REMOTE_ENABLE of one thread exclude each other, as in 6.12. One private area is
 * kept for a later section of the same size.
 */
#include "linux.h"
#include "alloc.h"

#ifdef CONFIG_KCOV

#define HANDLES_MAX      256 /* of a descriptor */
#define INSTANCE_MASK    0x00000000ffffffffUL
#define SUBSYSTEM_COMMON 0x0000000000000000UL
#define SUBSYSTEM_USB    0x0100000000000000UL

#ifndef CONFIG_KCOV_IRQ_AREA_SIZE
#define CONFIG_KCOV_IRQ_AREA_SIZE 0x40000
#endif

/* KCOV_REMOTE_ENABLE's argument; handles follow. */
struct remote_arg {
    u32 trace_mode;
    u32 area_size;
    u32 num_handles;
    u32 padding;
    u64 common_handle;
};
_Static_assert(sizeof(struct remote_arg) == 24, "kcov_remote_arg");

static struct vm_pages *spare; /* (k) the private area of an earlier section in a thread, or 0 */

/* The instance is not 0 in a common handle. */
static bool is_valid(u64 handle, u64 subsystem)
{
    return (handle & ~INSTANCE_MASK) == subsystem && (subsystem || handle);
}

/* ---- Enable and disable ---- */

static long add_handle(struct kcov_desc *desc, u64 handle)
{
    if (kcov_remote_find(0, handle))
        return -EEXIST;
    struct kcov_remote *r = kcov_remote_alloc(0, handle, KCOV_REMOTE_ATTACHED);
    if (!r)
        return -ENOMEM;
    r->desc = desc;
    kcov_remote_entry(r)->context = va_to_pa(&desc->ctx);
    return 0;
}

static long add_handles(struct kcov_desc *desc, const struct remote_arg *arg, const u64 *handles)
{
    long result = 0;

    for (u32 i = 0; i < arg->num_handles && !result; i++)
        result = is_valid(handles[i], SUBSYSTEM_USB) ? add_handle(desc, handles[i]) : -EINVAL;
    if (!result && arg->common_handle)
        result = is_valid(arg->common_handle, SUBSYSTEM_COMMON)
                     ? add_handle(desc, arg->common_handle)
                     : -EINVAL;
    return result;
}

/* Back to INIT: frees the handles; open sections will find a changed sequence number. */
void kcov_linux_remote_drop(struct kcov_desc *desc)
{
    struct kcov_remote *r;

    while ((r = kcov_remote_of(desc)) != NULL)
        kcov_remote_free(r);
    desc->sequence++;
    desc->is_remote = false;
    desc->state = KCOV_READY;
    desc->owner = NULL;
    current->kcov.desc = NULL;
    current->kcov.remote_desc = NULL;
    current->kcov.common_handle = 0;
}

long kcov_linux_remote_disable(struct kcov_desc *desc)
{
    spin_lock(&kcov_lock);
    kcov_linux_remote_drop(desc);
    kcov_desc_drop(desc); /* the file holds a reference */
    spin_unlock(&kcov_lock);
    return 0;
}

static long link_remote(struct kcov_desc *desc, const struct remote_arg *arg, const u64 *handles)
{
    u32 record;

    if (desc->state != KCOV_READY)
        return -EINVAL;
    if (desc->owner || current->kcov.desc)
        return -EBUSY;
    long result = kcov_linux_mode(arg->trace_mode, &record);
    if (result)
        return result;
    desc->state = KCOV_TRACE;
    desc->is_remote = true;
    /* The UNIQ series has no seen-sets for sections: it warns and drops their records. */
    desc->remote_mode = record & (KCOV_RECORD_PC | KCOV_RECORD_CMP);
    desc->section_words = arg->area_size;
    desc->owner = current;
    current->kcov.desc = desc;
    current->kcov.remote_desc = desc;
    result = add_handles(desc, arg, handles);
    if (result) {
        kcov_linux_remote_drop(desc);
        return result;
    }
    current->kcov.common_handle = arg->common_handle;
    desc->refs++;
    return 0;
}

long kcov_linux_remote_enable(struct kcov_desc *desc, va_t user)
{
    struct remote_arg arg;
    u32 num;
    u64 *handles = NULL;

    if (get_user(num, user + offsetof(struct remote_arg, num_handles)))
        return -EFAULT;
    if (num > HANDLES_MAX)
        return -EINVAL;
    if (get_user(arg, user))
        return -EFAULT;
    if (arg.num_handles != num)
        return -EINVAL;
    if (num) {
        if (!(handles = kmalloc(num * sizeof(u64))))
            return -ENOMEM;
        if (copyin(handles, user + sizeof(arg), num * sizeof(u64))) {
            kfree(handles);
            return -EFAULT;
        }
    }
    spin_lock(&kcov_lock);
    long result = link_remote(desc, &arg, handles);
    spin_unlock(&kcov_lock);
    kfree(handles);
    if (!result && !kcov_hart_areas(CONFIG_KCOV_IRQ_AREA_SIZE))
        kprintf("kcov: no memory for interrupt areas; sections in interrupts are not recorded\n");
    return result;
}

/* ---- Sections ---- */

/* The allocators never sleep. */
static bool provide_area(struct kcov_section *s, u64 words)
{
    s->ctx.words = words;
    s->area = spare;
    spare = NULL;
    if (s->area && s->area->npages == kcov_area_pages(words))
        return true;
    vm_pages_put(s->area);
    s->area = words && words <= KCOV_AREA_WORDS_MAX ? kcov_area_new(words) : NULL;
    return s->area != NULL;
}

/* kcov_remote_start(handle). A miss is silent; nesting is a warning and nothing else. */
void kcov_linux_section_start(struct kcov_section *s, u64 subsystem, u64 handle)
{
    bool of_thread = kcov_is_of_thread(s);

    if (s->remote || (of_thread && current->kcov.desc)) {
        kprintf("kcov: remote section %lx starts inside another\n", handle);
        return;
    }
    spin_lock(&kcov_lock);
    struct kcov_remote *r = handle ? kcov_remote_find(0, handle) : NULL;
    if (r && (of_thread ? provide_area(s, r->desc->section_words) : s->area != NULL)) {
        s->desc = r->desc;
        s->desc->refs++;
        s->sequence = s->desc->sequence;
        kcov_section_begin(s, r, s->desc->remote_mode);
    }
    spin_unlock(&kcov_lock);
}

/* kcov_remote_stop(): appends unless the descriptor was disabled meanwhile. */
void kcov_linux_section_stop(struct kcov_section *s)
{
    struct kcov_desc *desc = s->desc;
    struct vm_pages *unwanted = NULL;

    spin_lock(&kcov_lock);
    bool listens = desc->is_remote && desc->sequence == s->sequence;
    kcov_section_end(s, listens ? desc : NULL, false);
    if (kcov_is_of_thread(s)) {
        unwanted = spare;
        spare = s->area;
        s->area = NULL;
    }
    desc = kcov_desc_drop(desc);
    spin_unlock(&kcov_lock);
    kcov_desc_free(desc);
    vm_pages_put(unwanted);
}

u64 kcov_linux_handle_of(const struct work_origin *origin)
{
    return origin->kcov_handle;
}
#endif

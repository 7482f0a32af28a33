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
 * boot. ENABLE and REMOTE_ENABLE of one thread exclude each other, as in 6.12. Private areas are
 * kept for later sections, but SPARES_MAX of them at most.
 */
#include "linux.h"
#include "alloc.h"

#ifdef CONFIG_KCOV

#define SUBSYSTEM_MASK   0xff00000000000000UL
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

/* The private area of a section in a thread, kept for a later section of the same size. */
struct kcov_spare {
    struct kcov_spare *next;
    u64 words;
    struct vm_pages *area;
};
static struct kcov_spare *spares; /* (k) youngest first */
static int nspares;               /* (k) */
#define SPARES_MAX 8

/* The data of a section in an interrupt besides its context, by hart. */
static struct section_state {
    struct kcov_desc *desc;
    u64 sequence;
} intr_state[MAX_HARTS];

static bool is_common(u64 handle)
{
    return !(handle & ~(SUBSYSTEM_MASK | INSTANCE_MASK)) &&
           (handle & SUBSYSTEM_MASK) == SUBSYSTEM_COMMON && (handle & INSTANCE_MASK);
}

static bool is_uncommon(u64 handle)
{
    return !(handle & ~(SUBSYSTEM_MASK | INSTANCE_MASK)) &&
           (handle & SUBSYSTEM_MASK) == SUBSYSTEM_USB;
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
        result = is_uncommon(handles[i]) ? add_handle(desc, handles[i]) : -EINVAL;
    if (!result && arg->common_handle)
        result = is_common(arg->common_handle) ? add_handle(desc, arg->common_handle) : -EINVAL;
    return result;
}

/* Back to INIT: frees the handles; open sections will find a changed sequence number. (k) */
static void unlink_remote(struct kcov_desc *desc)
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

void kcov_linux_remote_drop(struct kcov_desc *desc)
{
    unlink_remote(desc);
}

long kcov_linux_remote_disable(struct kcov_desc *desc)
{
    spin_lock(&kcov_lock);
    unlink_remote(desc);
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
        unlink_remote(desc);
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
    if (num > KCOV_HANDLES_MAX)
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
    if (!result && !kcov_hart_buffers(CONFIG_KCOV_IRQ_AREA_SIZE))
        kprintf("kcov: no memory for interrupt areas; sections in interrupts are not recorded\n");
    return result;
}

/* ---- Sections ---- */

static struct kcov_spare *take_spare(u64 words)
{
    for (struct kcov_spare **at = &spares; *at; at = &(*at)->next) {
        struct kcov_spare *s = *at;
        if (s->words != words)
            continue;
        *at = s->next;
        nspares--;
        return s;
    }
    return NULL;
}

/* Keeps s for a later section. Returns the oldest, for the caller to free, if too many. (k) */
static struct kcov_spare *keep_spare(struct kcov_spare *s)
{
    struct kcov_spare **at = &spares, *oldest = NULL;

    s->next = spares;
    spares = s;
    if (++nspares > SPARES_MAX) {
        while ((*at)->next)
            at = &(*at)->next;
        oldest = *at;
        *at = NULL;
        nspares--;
    }
    return oldest;
}

static void free_spare(struct kcov_spare *s)
{
    if (s)
        vm_pages_put(s->area);
    kfree(s);
}

static struct kcov_spare *new_spare(u64 words)
{
    struct kcov_spare *s = words ? kzalloc(sizeof(*s)) : NULL;

    if (!s)
        return NULL;
    s->words = words;
    s->area = words <= KCOV_AREA_WORDS_MAX ? kcov_area_new(words) : NULL;
    if (!s->area) {
        kfree(s);
        return NULL;
    }
    return s;
}

static void start_in_thread(struct kcov_remote *r)
{
    struct kcov_desc *desc = r->desc;
    struct kcov_spare *s = take_spare(desc->section_words);

    if (!s && !(s = new_spare(desc->section_words))) /* allocators never sleep */
        return;
    *(u64 *)vm_pages_addr(s->area) = 0;
    desc->refs++;
    current->kcov.section_desc = desc;
    current->kcov.section_sequence = desc->sequence;
    current->kcov.section_area = s;
    kcov_section_begin(r, desc->remote_mode, s->area->pa, s->words);
}

static void start_in_interrupt(struct kcov_remote *r)
{
    struct section_state *state = &intr_state[this_cpu()->index];

    if (!kcov_intr_section_begin(r, r->desc->remote_mode))
        return;
    r->desc->refs++;
    state->desc = r->desc;
    state->sequence = r->desc->sequence;
}

/* kcov_remote_start(handle). A miss is silent; nesting is a warning and nothing else. */
static void start(u64 subsystem, u64 handle, bool in_interrupt)
{
    if (in_interrupt ? kcov_intr_section_open()
                     : current->kcov.desc || current->kcov.section_remote) {
        kprintf("kcov: remote section %lx starts inside another\n", handle);
        return;
    }
    spin_lock(&kcov_lock);
    struct kcov_remote *r = handle ? kcov_remote_find(0, handle) : NULL;
    if (r && in_interrupt)
        start_in_interrupt(r);
    else if (r)
        start_in_thread(r);
    spin_unlock(&kcov_lock);
}

/* Appends unless the descriptor was disabled meanwhile; drops the section's reference. (k) */
static struct kcov_desc *finish(struct kcov_desc *desc, u64 sequence, struct kcov_remote *r,
                                u64 from, u32 record, u64 lost)
{
    if (desc->is_remote && desc->sequence == sequence) {
        kcov_move_records(desc, r, from, record, false);
        desc->ctx.lost += lost;
    }
    return kcov_desc_drop(desc);
}

/* kcov_remote_stop() */
static void stop(bool in_interrupt)
{
    struct kcov_desc *gone = NULL;
    struct kcov_spare *unwanted = NULL;
    struct kcov_thread *k = &current->kcov;
    u64 from, lost;
    u32 record;

    spin_lock(&kcov_lock);
    if (in_interrupt) {
        struct section_state *state = &intr_state[this_cpu()->index];
        struct kcov_remote *r = kcov_intr_section_end(&from, &record, &lost);
        gone = finish(state->desc, state->sequence, r, from, record, lost);
        state->desc = NULL;
    } else {
        struct kcov_spare *s = k->section_area;
        record = k->section.mode;
        struct kcov_remote *r = kcov_section_end(&lost);
        gone = finish(k->section_desc, k->section_sequence, r, s->area->pa, record, lost);
        unwanted = keep_spare(s);
        k->section_desc = NULL;
    }
    spin_unlock(&kcov_lock);
    kcov_desc_free(gone);
    free_spare(unwanted);
}

static void work_enter(const struct work_origin *origin, bool in_interrupt)
{
    if (origin->kcov_handle)
        start(0, origin->kcov_handle, in_interrupt);
}

const struct kcov_remote_ops kcov_linux_remote_ops = {
    .work_enter = work_enter,
    .enter = start,
    .leave = stop,
};
#endif

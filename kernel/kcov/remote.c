/* kcov: not instrumented: part of the kcov driver */
/*
 * The table of remotes, and sections in threads and interrupts; see remote.h. The public functions
 * at the end test whether they run in an interrupt and call the dialect.
 */
#include "remote.h"

#ifdef CONFIG_KCOV

static struct kcov_remotes table __attribute__((aligned(64))) = {.count = KCOV_REMOTES_MAX};

static struct kcov_remote remotes[KCOV_REMOTES_MAX];
static u32 used; /* (k) entries that are not free */
static u64 generations;

/* One per hart, used only by interrupts of that hart. */
static struct hart_section {
    struct kcov_context ctx;
    struct vm_pages *buffer;
    struct kcov_remote *remote;
    u64 generation;
    struct kcov_context *interrupted;
    bool open;
} hart_sections[MAX_HARTS];

u64 kcov_remote_table_pa(void)
{
    return va_to_pa(&table);
}

struct kcov_remote_entry *kcov_remote_entry(struct kcov_remote *r)
{
    return &table.entries[r - remotes];
}

bool kcov_remotes_none(void)
{
    return atomic_load(&used) == 0;
}

struct kcov_remote *kcov_remote_find(u64 subsystem, u64 id)
{
    for (u32 i = 0, left = used; left && i < KCOV_REMOTES_MAX; i++) {
        const struct kcov_remote_entry *e = &table.entries[i];
        if (e->state == KCOV_REMOTE_FREE)
            continue;
        if (e->subsys == subsystem && e->id == id)
            return &remotes[i];
        left--;
    }
    return NULL;
}

struct kcov_remote *kcov_remote_of(const struct kcov_desc *desc)
{
    for (u32 i = 0; i < KCOV_REMOTES_MAX; i++)
        if (table.entries[i].state != KCOV_REMOTE_FREE && remotes[i].desc == desc)
            return &remotes[i];
    return NULL;
}

struct kcov_remote *kcov_remote_alloc(u64 subsystem, u64 id, u32 state)
{
    for (u32 i = 0; i < KCOV_REMOTES_MAX; i++) {
        struct kcov_remote_entry *e = &table.entries[i];
        if (e->state != KCOV_REMOTE_FREE)
            continue;
        *e = (struct kcov_remote_entry){.state = state, .subsys = subsystem, .id = id};
        memset(&remotes[i], 0, sizeof(remotes[i]));
        remotes[i].generation = ++generations;
        atomic_store(&used, used + 1);
        return &remotes[i];
    }
    return NULL;
}

void kcov_remote_free(struct kcov_remote *r)
{
    memset(kcov_remote_entry(r), 0, sizeof(struct kcov_remote_entry));
    memset(r, 0, sizeof(*r));
    atomic_store(&used, used - 1);
}

bool kcov_hart_buffers(u64 words)
{
    for (int i = 0; i < MAX_HARTS; i++) {
        if (!cpus[i].online || atomic_load(&hart_sections[i].buffer))
            continue;
        struct vm_pages *buffer = kcov_area_new(words);
        if (!buffer)
            return false;
        spin_lock(&kcov_lock);
        bool mine = !hart_sections[i].buffer;
        if (mine) {
            hart_sections[i].ctx.area = buffer->pa;
            hart_sections[i].ctx.words = words;
            atomic_store(&hart_sections[i].buffer, buffer);
        }
        spin_unlock(&kcov_lock);
        if (!mine)
            vm_pages_put(buffer);
    }
    return true;
}

static void describe(struct kcov_context *ctx, struct kcov_remote *r, u32 kind)
{
    ctx->flags = KCOV_DIALECT.ctx_flags;
    ctx->tid = (u32)current->tid;
    ctx->pid = (u32)curproc->pid;
    ctx->syscall = ~0U;
    ctx->kind = kind;
    ctx->lost = 0;
    ctx->handle = kcov_remote_entry(r)->id;
    ctx->descriptor = r->desc ? r->desc->ctx.descriptor : 0;
}

static void count_in(struct kcov_remote *r)
{
    struct kcov_remote_entry *e = kcov_remote_entry(r);
    e->sections++;
    e->entered++;
}

void kcov_section_begin(struct kcov_remote *r, u32 record, u64 area_pa, u64 words)
{
    struct kcov_thread *k = &current->kcov;

    describe(&k->section, r, KCOV_KIND_REMOTE_TASK);
    k->section.area = area_pa;
    k->section.words = words;
    k->section.mode = record;
    k->section_remote = r;
    k->section_generation = r->generation;
    count_in(r);
    kcov_set_live(&k->section);
}

static struct kcov_remote *count_out(struct kcov_remote *r, u64 generation)
{
    if (r->generation != generation)
        return NULL;
    kcov_remote_entry(r)->sections--;
    return r;
}

struct kcov_remote *kcov_section_end(u64 *lost)
{
    struct kcov_thread *k = &current->kcov;
    struct kcov_remote *r = k->section_remote;

    kcov_set_live(NULL);
    k->section_remote = NULL;
    k->section.mode = 0;
    *lost = k->section.lost;
    return count_out(r, k->section_generation);
}

bool kcov_intr_section_open(void)
{
    return hart_sections[this_cpu()->index].open;
}

bool kcov_intr_section_begin(struct kcov_remote *r, u32 record)
{
    struct hart_section *s = &hart_sections[this_cpu()->index];

    if (s->open || !s->buffer)
        return false;
    describe(&s->ctx, r, KCOV_KIND_REMOTE_INTR);
    *(u64 *)pa_to_va(s->ctx.area) = 0;
    s->ctx.mode = record;
    s->open = true;
    s->remote = r;
    s->generation = r->generation;
    s->interrupted = current->kcov.live;
    count_in(r);
    kcov_set_live(&s->ctx);
    return true;
}

struct kcov_remote *kcov_intr_section_end(u64 *area_pa, u32 *record, u64 *lost)
{
    struct hart_section *s = &hart_sections[this_cpu()->index];
    struct kcov_remote *r = s->remote;

    kcov_set_live(s->interrupted);
    *area_pa = s->ctx.area;
    *record = s->ctx.mode;
    *lost = s->ctx.lost;
    s->ctx.mode = 0;
    s->open = false;
    s->remote = NULL;
    return count_out(r, s->generation);
}

void kcov_move_records(struct kcov_desc *desc, struct kcov_remote *r, u64 from_pa, u32 record,
                       bool all_or_nothing)
{
    u64 length = record & KCOV_RECORD_CMP ? KCOV_CMP_WORDS : 1;
    const u64 *from = pa_to_va(from_pa);
    u64 *to = vm_pages_addr(desc->area);
    u64 capacity = (desc->words - 1) / length, count = from[0], room, taken;
    u64 at = __atomic_load_n(to, __ATOMIC_RELAXED);

    do {
        room = at < capacity ? capacity - at : 0;
        taken = MIN(count, room);
        if (all_or_nothing && taken < count)
            taken = 0;
    } while (taken && !__atomic_compare_exchange_n(to, &at, at + taken, true, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED));
    memcpy(to + 1 + at * length, from + 1, taken * length * 8);
    desc->ctx.lost += count - taken;
    if (r)
        kcov_remote_entry(r)->dropped += count - taken;
}

/* ---- The interface to the rest of the kernel ---- */

void kcov_remote_enter(const struct work_origin *origin, bool softirq)
{
    bool in_interrupt = softirq || kcov_in_interrupt();

    if (!KCOV_DIALECT.remote || !KCOV_DIALECT.remote->work_enter || kcov_remotes_none())
        return;
    if (in_interrupt && !softirq && KCOV_DIALECT.deaf_in_handlers)
        return;
    KCOV_DIALECT.remote->work_enter(origin, in_interrupt);
}

void kcov_remote_leave(void)
{
    kcov_section_leave();
}

void kcov_remote_register(u64 subsystem, u64 id)
{
    if (KCOV_DIALECT.remote && KCOV_DIALECT.remote->reg)
        KCOV_DIALECT.remote->reg(subsystem, id);
}

void kcov_remote_unregister(u64 subsystem, u64 id)
{
    if (KCOV_DIALECT.remote && KCOV_DIALECT.remote->unreg)
        KCOV_DIALECT.remote->unreg(subsystem, id);
}

void kcov_section_enter(u64 subsystem, u64 id)
{
    if (KCOV_DIALECT.remote && KCOV_DIALECT.remote->enter && !kcov_remotes_none())
        KCOV_DIALECT.remote->enter(subsystem, id, kcov_in_interrupt());
}

void kcov_section_leave(void)
{
    bool in_interrupt = kcov_in_interrupt() || kcov_intr_section_open();

    if (in_interrupt ? kcov_intr_section_open() : current->kcov.section_remote != NULL)
        KCOV_DIALECT.remote->leave(in_interrupt);
}

u64 kcov_common_handle(struct thread *t)
{
    return kcov_in_interrupt() ? 0 : t->kcov.common_handle;
}
#endif

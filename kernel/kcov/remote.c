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

static struct kcov_section hart_sections[MAX_HARTS];

u64 kcov_remote_table_pa(void)
{
    return va_to_pa(&table);
}

struct kcov_remote_entry *kcov_remote_entry(struct kcov_remote *r)
{
    return &table.entries[r - remotes];
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

bool kcov_hart_areas(u64 words)
{
    for (int i = 0; i < MAX_HARTS; i++) {
        if (!cpus[i].online)
            continue;
        hart_sections[i].ctx.words = words;
        if (!kcov_provide(&hart_sections[i].area, words))
            return false;
    }
    return true;
}

void kcov_section_begin(struct kcov_section *s, struct kcov_remote *r, u32 record)
{
    struct kcov_remote_entry *e = kcov_remote_entry(r);
    struct kcov_context *ctx = &s->ctx;

    if (s->area) {
        ctx->area = s->area->pa;
        *(u64 *)vm_pages_addr(s->area) = 0;
    }
    ctx->flags = kcov_dialect.ctx_flags;
    ctx->tid = (u32)current->tid;
    ctx->pid = (u32)curproc->pid;
    ctx->syscall = ~0U;
    ctx->kind = kcov_is_of_thread(s) ? KCOV_KIND_REMOTE_TASK : KCOV_KIND_REMOTE_INTR;
    ctx->lost = 0;
    ctx->handle = e->id;
    ctx->descriptor = r->desc->ctx.descriptor;
    ctx->mode = record;
    e->sections++;
    e->entered++;
    s->remote = r;
    s->interrupted = current->kcov.live;
    kcov_set_live(ctx);
}

static void move_records(struct kcov_section *s, struct kcov_desc *desc, bool all_or_nothing)
{
    u64 length = s->ctx.mode & KCOV_RECORD_CMP ? KCOV_CMP_WORDS : 1;
    const u64 *from = vm_pages_addr(s->area);
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
    kcov_remote_entry(s->remote)->dropped += count - taken;
}

void kcov_section_end(struct kcov_section *s, struct kcov_desc *desc, bool all_or_nothing)
{
    kcov_set_live(s->interrupted);
    if (desc) {
        if (s->area)
            move_records(s, desc, all_or_nothing);
        desc->ctx.lost += s->ctx.lost;
        kcov_remote_entry(s->remote)->sections--;
    }
    s->ctx.mode = 0;
    s->remote = NULL;
}

/* ---- The interface to the rest of the kernel ---- */

static struct kcov_section *section_of(bool in_interrupt)
{
    return in_interrupt ? &hart_sections[this_cpu()->index] : &current->kcov.section;
}

void kcov_remote_enter(const struct work_origin *origin, bool softirq)
{
    bool in_handler = kcov_in_interrupt() && !softirq;
    u64 id;

    if (!kcov_dialect.id_of_work || !atomic_load(&used))
        return;
    if (in_handler && kcov_dialect.deaf_in_handlers)
        return;
    id = kcov_dialect.id_of_work(origin);
    if (id)
        kcov_dialect.enter(section_of(in_handler || softirq), 0, id);
}

void kcov_remote_leave(void)
{
    kcov_section_leave();
}

void kcov_remote_register(u64 subsystem, u64 id)
{
    if (kcov_dialect.reg)
        kcov_dialect.reg(subsystem, id);
}

void kcov_remote_unregister(u64 subsystem, u64 id)
{
    if (kcov_dialect.unreg)
        kcov_dialect.unreg(subsystem, id);
}

void kcov_section_enter(u64 subsystem, u64 id)
{
    if (kcov_dialect.enter && atomic_load(&used))
        kcov_dialect.enter(section_of(kcov_in_interrupt()), subsystem, id);
}

void kcov_section_leave(void)
{
    struct kcov_section *s = section_of(true);

    if (!s->remote && !kcov_in_interrupt())
        s = section_of(false);
    if (s->remote)
        kcov_dialect.leave(s);
}

u64 kcov_common_handle(struct thread *t)
{
    return kcov_in_interrupt() ? 0 : t->kcov.common_handle;
}
#endif

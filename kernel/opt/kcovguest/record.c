/* kcov: not instrumented: runs inside the hooks */
/*
 * The hooks' work in plain C, for machines without the kcov device. Leaves the same bytes in area,
 * context and seen-sets as its twin devices/kcov-record.ts: change both.
 *
 * Runs for every edge of a traced thread: no calls out of this directory, no locks, no allocation.
 * The area's word 0 belongs to the user and may hold anything at any time, so it is read once,
 * compared with the capacity, and only then multiplied.
 */
#include "opt/kcovguest/record.h"
#include "memlayout.h"

/* Raises the count first: the slot is ours even if an interrupt or another hart records now. */
static bool claim(u64 *count, u64 capacity, u64 *index)
{
    u64 seen = __atomic_load_n(count, __ATOMIC_RELAXED);
    do {
        if (seen >= capacity)
            return false;
    } while (!__atomic_compare_exchange_n(count, &seen, seen + 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    *index = seen;
    return true;
}

static bool append(struct kcov_context *ctx, u64 area_pa, const u64 *record, u32 length)
{
    u64 *area = pa_to_va(area_pa);
    u64 capacity = (ctx->words - 1) / length;
    u64 index;

    if (!area_pa || !ctx->words)
        return false;
    if (ctx->flags & KCOV_CTXF_DATA_FIRST) {
        index = __atomic_load_n(area, __ATOMIC_RELAXED);
        if (index >= capacity)
            goto full;
    } else if (!claim(area, capacity, &index)) {
        goto full;
    }
    u64 *slot = area + 1 + index * length;
    for (u32 i = 0; i < length; i++)
        __atomic_store_n(slot + i, record[i], __ATOMIC_RELAXED);
    if (ctx->flags & KCOV_CTXF_DATA_FIRST)
        __atomic_store_n(area, index + 1, __ATOMIC_RELEASE);
    return true;
full:
    ctx->lost++;
    return false;
}

/*
 * Adds to the seen-set first: a record that the area has no room for is never reported (UNIQ
 * series). False when the hook has used up its steps and must stop.
 */
static bool append_new(struct kcov_context *ctx, u64 seen_pa, u64 area_pa, const u64 *record,
                       u32 length, u32 *steps)
{
    switch (kcov_seen_insert(seen_pa, record, length, steps)) {
    case KCOV_SEEN_NEW:
        append(ctx, area_pa, record, length);
        break;
    case KCOV_SEEN_FULL:
        ctx->lost++;
        break;
    case KCOV_SEEN_KNOWN:
        break;
    case KCOV_SEEN_LIMIT:
        ctx->flags |= KCOV_CTXF_LIMITED;
        return false;
    }
    return true;
}

static void record_edge(struct kcov_context *ctx, u64 pc, u32 *steps)
{
    u64 edge = pc ^ (((ctx->prev & 0xfff) * 0x3eb) & 0xfff);
    ctx->prev = pc;
    append_new(ctx, ctx->edge_seen, ctx->edge_area, &edge, 1, steps);
}

void kcov_record_pc(u64 unused0, u64 unused1, struct kcov_context *ctx, u64 pc)
{
    u32 mode = ctx->mode;
    u32 steps = KCOV_LIMIT_SEEN_STEPS;

    if (mode & KCOV_RECORD_PC) {
        append(ctx, ctx->area, &pc, 1);
        return;
    }
    if (mode & KCOV_RECORD_UNIQ_PC && !append_new(ctx, ctx->seen, ctx->area, &pc, 1, &steps))
        return;
    if (mode & KCOV_RECORD_UNIQ_EDGE)
        record_edge(ctx, pc, &steps);
}

/* False when the area is full (CMP), or the hook has used up its steps (UNIQ_CMP). */
static bool append_cmp(struct kcov_context *ctx, const u64 record[KCOV_CMP_WORDS], u32 *steps)
{
    if (ctx->mode & KCOV_RECORD_CMP)
        return append(ctx, ctx->area, record, KCOV_CMP_WORDS);
    if (ctx->mode & KCOV_RECORD_UNIQ_CMP)
        return append_new(ctx, ctx->seen, ctx->area, record, KCOV_CMP_WORDS, steps);
    return true;
}

/* One record per case. table: number of cases, width of the operand in bits, the cases. */
static void record_switch(struct kcov_context *ctx, u64 value, const u64 *table, u64 pc)
{
    u64 cases = table[0];
    u32 steps = KCOV_LIMIT_SEEN_STEPS;
    u64 log2;

    switch (table[1]) {
    case 8:
        log2 = 0;
        break;
    case 16:
        log2 = 1;
        break;
    case 32:
        log2 = 2;
        break;
    case 64:
        log2 = 3;
        break;
    default:
        return;
    }
    bool freebsd = ctx->flags & KCOV_CTXF_SWITCH_FREEBSD;
    for (u64 i = 0; i < cases && i < KCOV_LIMIT_SWITCH_CASES; i++) {
        u64 label = table[2 + i];
        u64 linux_record[] = {log2 << 1 | 1, label, value, pc};
        u64 freebsd_record[] = {log2 << 1, value | 1, label, pc};
        bool goes_on = append_cmp(ctx, freebsd ? freebsd_record : linux_record, &steps);
        /* FreeBSD stops at the first record that finds no room; the others try each case. */
        if (!goes_on && (freebsd || !steps))
            return;
    }
    if (cases > KCOV_LIMIT_SWITCH_CASES)
        ctx->flags |= KCOV_CTXF_LIMITED;
}

void kcov_record_cmp(u64 arg0, u64 arg1, struct kcov_context *ctx, u64 pc, u64 kind)
{
    ctx->arg0 = arg0;
    ctx->arg1 = arg1;
    if (kind == KCOV_HOOK_SWITCH) {
        record_switch(ctx, arg0, (const u64 *)arg1, pc);
        return;
    }
    bool is_const = kind >= KCOV_HOOK_CONST_CMP1;
    u64 log2 = kind - (is_const ? KCOV_HOOK_CONST_CMP1 : KCOV_HOOK_CMP1);
    u64 mask = log2 == 3 ? ~0UL : (1UL << (8UL << log2)) - 1;
    u64 record[] = {log2 << 1 | is_const, arg0 & mask, arg1 & mask, pc};
    u32 steps = KCOV_LIMIT_SEEN_STEPS;
    append_cmp(ctx, record, &steps);
}

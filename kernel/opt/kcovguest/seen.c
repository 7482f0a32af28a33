/* kcov: not instrumented: runs inside the hooks */
/*
 * Seen-sets of the UNIQ modes: the records that a descriptor has already reported. A hash table
 * with chains over a fixed pool of nodes, in memory that the device uses too; devices/kcov-seen.ts
 * is the twin, byte for byte. A set is never emptied: it is freed with its descriptor.
 */
#include "opt/kcovguest/record.h"
#include "memlayout.h"

#ifdef CONFIG_PERSONALITY_LINUX

struct node {
    u32 next; /* 1 + index, 0 = end */
    u32 zero;
    u64 words[];
};

static u64 node_bytes(u32 node_words)
{
    return KCOV_SEEN_NODE_HEADER + 8UL * node_words;
}

static struct node *node_at(const struct kcov_seen *set, u64 index)
{
    return (struct node *)((u8 *)pa_to_va(set->pool) + index * node_bytes(set->node_words));
}

static u64 word_at(const u64 *record, u32 length, u32 i)
{
    return i < length ? record[i] : 0;
}

static u32 mix(u32 h, u32 half)
{
    h = (h ^ half) * 0x9e3779b1U;
    return h ^ h >> 15;
}

enum kcov_verdict kcov_seen_insert(u64 seen_pa, const u64 *record, u32 length, u32 *steps)
{
    struct kcov_seen *set = pa_to_va(seen_pa);
    u32 hash = 0;

    for (u32 i = 0; i < set->node_words; i++) {
        u64 word = word_at(record, length, i);
        hash = mix(mix(hash, (u32)word), (u32)(word >> 32));
    }
    u32 *bucket = (u32 *)pa_to_va(set->buckets) + (hash & ((1U << set->buckets_log2) - 1));
    for (u32 link = *bucket; link; link = node_at(set, link - 1)->next) {
        const struct node *node = node_at(set, link - 1);
        u32 same = 0;

        if (*steps == 0)
            return KCOV_SEEN_LIMIT;
        --*steps;
        while (same < set->node_words && node->words[same] == word_at(record, length, same))
            same++;
        if (same == set->node_words)
            return KCOV_SEEN_KNOWN;
    }
    if (set->used >= set->nodes)
        return KCOV_SEEN_FULL;
    struct node *node = node_at(set, set->used);
    node->next = *bucket;
    node->zero = 0;
    for (u32 i = 0; i < set->node_words; i++)
        node->words[i] = word_at(record, length, i);
    *bucket = (u32)++set->used;
    return KCOV_SEEN_NEW;
}

#endif

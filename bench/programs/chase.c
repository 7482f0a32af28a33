/* Dependent loads (a pointer chase): one cycle through all nodes in random order. BYTES decides
 * whether they fit the cache. */
#include "work.h"

#define NODES (BYTES / sizeof(struct node))
#define STEPS 2000000

struct node {
    struct node *next;
    u64 pad[7];
};

static struct node nodes[NODES];
static int ready;

static void link(void)
{
    static u32 order[NODES];
    u64 random = 2463534242ull;
    for (u32 i = 0; i < NODES; i++)
        order[i] = i;
    for (u32 i = NODES - 1; i > 0; i--) {
        u32 j = (u32)(next_random(&random) % (i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (u32 i = 0; i < NODES; i++) {
        nodes[order[i]].next = &nodes[order[(i + 1) % NODES]];
        nodes[order[i]].pad[0] = order[i];
    }
    ready = 1;
}

u64 work(void)
{
    if (!ready)
        link();
    struct node *at = nodes;
    for (u32 i = 0; i < STEPS; i++)
        at = at->next;
    return at->pad[0];
}

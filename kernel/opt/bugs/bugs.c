/* kcov: not instrumented: the canaries must not show in coverage */
/*
 * The switches and canaries of historical bugs. bugs=ID,ID of the command line switches bugs on,
 * before the first program runs; bugs=all switches on every one.
 */
#include "bugs.h"
#include "boot.h"
#include "klib.h"
#include "proc.h"

struct bug bug_table[BUGS] = {
#define BUG_ROW(id) {.name = #id},
#include "opt/bugs/bugs.def"
#undef BUG_ROW
};

void bug_note(enum bug_id id, u64 holds)
{
    struct bug *b = &bug_table[id];
    __atomic_fetch_add(&b->triggered, b->on && holds, __ATOMIC_RELAXED);
}

void bug_note_more(enum bug_id id, u64 a, u64 b)
{
    bug_note(id, a > b);
}

void bug_watch(enum bug_id id, const void *object)
{
    atomic_store(&bug_table[id].watched[current->tid % BUG_WATCHES], object);
}

void bug_note_watched(enum bug_id id, const void *object)
{
    for (int i = 0; i < BUG_WATCHES; i++)
        bug_note(id, atomic_load(&bug_table[id].watched[i]) == object);
}

static void switch_on(const char *word, u64 len)
{
    bool all = len == 3 && !memcmp(word, "all", 3), any = all;
    for (int i = 0; i < BUGS; i++) {
        struct bug *b = &bug_table[i];
        if (!all && (strlen(b->name) != len || memcmp(b->name, word, len)))
            continue;
        b->on = any = true;
    }
    if (!any)
        kprintf("bugs: there is no bug named %s\n", word);
}

static void bugs_init(void)
{
    static char words[2048];
    const char *p = cmdline_get("bugs", words, sizeof(words));
    while (p && *p) {
        const char *comma = strchr(p, ',');
        switch_on(p, comma ? (u64)(comma - p) : strlen(p));
        p = comma ? comma + 1 : NULL;
    }
}
INITCALL(bugs_init);

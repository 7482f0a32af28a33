/* bugs.h: switches and canaries of historical bugs, for include/bugs.h. */
#pragma once
#include "types.h"

enum bug_id {
#define BUG_ROW(id) BUG_##id,
#include "opt/bugs/bugs.def"
#undef BUG_ROW
    BUGS
};

#define BUG_WATCHES 4

/* The host reads this array by its symbol (run/bugs/canaries.ts). */
struct bug {
    char name[39];
    bool on;
    u64 reached;                      /* the faulty code was executed */
    u64 triggered;                    /* and its condition held */
    const void *watched[BUG_WATCHES]; /* by thread: an object that is used without a reference */
};
_Static_assert(sizeof(struct bug) == 88, "the host knows the layout");
extern struct bug bug_table[BUGS];

/* Counts without a branch and without a comparison, so that kcov records nothing of it. */
static inline bool bug_reached(enum bug_id id)
{
    bool on = bug_table[id].on;
    __atomic_fetch_add(&bug_table[id].reached, on, __ATOMIC_RELAXED);
    return on;
}
void bug_note(enum bug_id id, u64 holds);
void bug_note_more(enum bug_id id, u64 a, u64 b);
void bug_watch(enum bug_id id, const void *object);
void bug_note_watched(enum bug_id id, const void *object);

#define BUG(id) bug_reached(BUG_##id)
/* Triggered if `holds` is not 0, or a > b; both are words that need no comparison in the caller. */
#define BUG_NOTE(id, holds)     bug_note(BUG_##id, (u64)(holds))
#define BUG_NOTE_MORE(id, a, b) bug_note_more(BUG_##id, (a), (b))
/* Triggered if an object is freed while a thread watches it. */
#define BUG_WATCH(id, object)        bug_watch(BUG_##id, (object))
#define BUG_NOTE_WATCHED(id, object) bug_note_watched(BUG_##id, (object))

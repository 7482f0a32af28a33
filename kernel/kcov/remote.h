/*
 * Remote coverage: records of work that kernel threads and interrupts do for a descriptor's
 * process. The table of remotes is in memory that the device reads (kcov-device.h), the kernel's
 * private part in a parallel array. The dialect chooses the remote of a piece of work, and defines
 * the conditions of enter and leave.
 *
 * A thread has a section of its own in struct thread; all interrupts of a hart share one, whose
 * records are copied when it is left, because an interrupt must not wait.
 */
#pragma once
#include "engine.h"

struct kcov_remote {
    struct kcov_desc *desc; /* (k) openbsd, linux: the descriptor it records for */
    /* netbsd mailboxes: */
    struct kcov_context ctx;
    struct vm_pages *area;
    bool enabled; /* (k) */
    bool busy;    /* (k) a thread is between enter and leave */
};

/* All (k) unless said otherwise. */
struct kcov_remote *kcov_remote_find(u64 subsystem, u64 id);
struct kcov_remote *kcov_remote_alloc(u64 subsystem, u64 id, u32 state); /* NULL: table full */
struct kcov_remote *kcov_remote_of(const struct kcov_desc *desc);        /* one of its remotes */
void kcov_remote_free(struct kcov_remote *r);
struct kcov_remote_entry *kcov_remote_entry(struct kcov_remote *r);
u64 kcov_remote_table_pa(void);

/* Private areas of all harts, so that interrupts can record; unlocked; false: no memory. */
bool kcov_hart_areas(u64 words);

static inline bool kcov_is_of_thread(const struct kcov_section *s)
{
    return s == &current->kcov.section;
}

/* The caller has set s->area, or area and words of the context. */
void kcov_section_begin(struct kcov_section *s, struct kcov_remote *r, u32 record);
/*
 * Appends the records of the private area to the descriptor's: all or nothing, or as many as fit.
 * Counts the others as lost. desc: NULL if it was disabled meanwhile; then the remote is gone.
 */
void kcov_section_end(struct kcov_section *s, struct kcov_desc *desc, bool all_or_nothing);

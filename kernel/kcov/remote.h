/*
 * Remote coverage: records of work that kernel threads and interrupts do for a descriptor's
 * process. The table of remotes is in memory that the device reads (kcov-device.h), the kernel's
 * private part in a parallel array. The dialect chooses the remote of a piece of work, and defines
 * the conditions of enter and leave.
 *
 *     section in a thread:     its own context in struct thread, recording where the dialect says
 *     section in an interrupt: one context and one private buffer per hart; copied to the target
 *                              area when it is left, because an interrupt must not wait
 */
#pragma once
#include "engine.h"

struct kcov_remote {
    struct kcov_desc *desc; /* (k) openbsd, linux: the descriptor it records for */
    /* netbsd mailboxes: */
    struct kcov_context ctx;
    struct vm_pages *area;
    bool enabled;   /* (k) */
    bool busy;      /* (k) a thread is between enter and leave */
    u64 generation; /* tells a slot from its next use */
};

/* All (k) unless said otherwise. */
struct kcov_remote *kcov_remote_find(u64 subsystem, u64 id);
struct kcov_remote *kcov_remote_alloc(u64 subsystem, u64 id, u32 state); /* NULL: table full */
struct kcov_remote *kcov_remote_of(const struct kcov_desc *desc);        /* one of its remotes */
void kcov_remote_free(struct kcov_remote *r);
struct kcov_remote_entry *kcov_remote_entry(struct kcov_remote *r);
bool kcov_remotes_none(void); /* without the lock: a hint that the table is empty */
u64 kcov_remote_table_pa(void);

/* Private buffers of all harts, so that interrupts can record; unlocked; false: no memory. */
bool kcov_hart_buffers(u64 words);

/*
 * A section of the current thread, which records into area directly. Ending one returns its remote,
 * or NULL if that was freed meanwhile.
 */
void kcov_section_begin(struct kcov_remote *r, u32 record, u64 area_pa, u64 words);
struct kcov_remote *kcov_section_end(u64 *lost);

/* A section of the current interrupt; false when the hart's buffer is busy or missing. */
bool kcov_intr_section_begin(struct kcov_remote *r, u32 record);
struct kcov_remote *kcov_intr_section_end(u64 *area_pa, u32 *record, u64 *lost);
bool kcov_intr_section_open(void);

/*
 * Appends the records of a private area to the descriptor's: all or nothing, or as many as fit.
 * Counts the others as lost.
 */
void kcov_move_records(struct kcov_desc *desc, struct kcov_remote *r, u64 from_pa, u32 record,
                       bool all_or_nothing);

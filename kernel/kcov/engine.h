/*
 * The kcov engine: descriptors, ownership, areas and remote sections, shared by four dialects. A
 * dialect is one file: the order of the checks and their errnos, the commands and modes, the effect
 * of close. See docs/kcov-dialects.md for the state machines.
 *
 * A descriptor (one per open):
 *
 *            set size            enable                     close, owner alive
 *     NONE ------------> READY ----------> TRACE ----------------------------> orphan
 *                          ^                 |   (close_stops: recording ends;     |
 *                          +-----------------+    else it goes on)                 | owner exits
 *                        disable, owner exits                                      v
 *                                                                                freed
 *
 * Locking: everything marked (k) under kcov_lock, a spinlock (enter and leave run in interrupts).
 * Memory is allocated outside it. Nothing in this directory is instrumented.
 */
#pragma once
#include "types.h"
#include "lock.h"
#include "wait.h"
#include "file.h"
#include "vm.h"
#include "proc.h"
#include "klib.h"
#include "abi/errno.h"
#include "abi/kcov-device.h"

enum kcov_state { KCOV_NONE, KCOV_READY, KCOV_TRACE };

struct kcov_desc {
    struct kcov_context ctx; /* the records of a traced thread; first, for its alignment */
    int refs;                /* (k) open file, owner, linux: open sections */
    u8 state;                /* (k) enum kcov_state */
    bool closed;             /* (k) after the last close */
    bool is_remote;          /* (k) openbsd: attached; linux: enabled for handles */
    u64 words;               /* (k) length of the area, 0 before it is set */
    struct vm_pages *area;   /* (k) constant once set */
    struct vm_pages *edge_area;
    struct vm_pages *seen, *edge_seen;
    struct thread *owner;       /* (k) the thread that enabled it */
    struct kcov_remote *remote; /* (k) openbsd: its remote; netbsd: the attached mailbox */
    u64 section_words;          /* (k) linux: area length of sections in threads */
    u64 sequence;               /* (k) linux: changes with every disable */
    u32 remote_mode;            /* (k) linux: KCOV_RECORD_* of sections */
};

struct kcov_dialect {
    bool close_stops;      /* the last close ends recording before the owner exits */
    bool mute_sched;       /* context switches are not traced */
    bool deaf_in_handlers; /* remote sections in the handler of an interrupt are no-ops */
    bool map_pins_file;    /* a mapping holds the open file, so release waits for munmap */
    bool map_at_once;      /* mmap maps all pages; a page dropped later is SIGBUS */
    bool allocates_first;  /* set size: ENOMEM comes before EBUSY */
    u32 file_flags;        /* FF_* of every open */
    u32 ctx_flags;         /* KCOV_CTXF_* */
    /* (k) Whether a command may be done now: 0, or the negative errno of the first check that
     * fails. */
    int (*may_size)(const struct kcov_desc *desc, u64 words);
    int (*may_enable)(const struct kcov_desc *desc, u64 mode, u32 *record); /* KCOV_RECORD_* */
    int (*may_disable)(const struct kcov_desc *desc, u64 value);
    int (*add_node)(void); /* at boot */
    void (*init)(void);    /* drivers that use remotes; or 0 */
    /* Remotes and their sections; a null member is a no-op. */
    u64 (*id_of_work)(const struct work_origin *origin); /* in subsystem 0; 0: none */
    void (*reg)(u64 subsystem, u64 id);
    void (*unreg)(u64 subsystem, u64 id);
    void (*enter)(struct kcov_section *s, u64 subsystem, u64 id);
    void (*leave)(struct kcov_section *s);         /* only when it is open */
    void (*on_owner_exit)(struct kcov_desc *desc); /* (k) linux: of a remote descriptor */
};

extern const struct kcov_dialect kcov_dialect; /* of the personality */

extern struct spinlock kcov_lock;
extern struct waitq kcov_drained; /* a section was left or a remote went away */
extern u64 kcov_device;           /* hooks.S: kernel address of the device, 0 = none */

/* engine.c; the caller holds kcov_lock unless the name says otherwise. */
int kcov_open(struct inode *inode, struct file *file); /* takes the lock */
void kcov_release(struct file *file);                  /* takes the lock */
long kcov_set_size(struct kcov_desc *desc, u64 words); /* takes the lock */
long kcov_enable(struct kcov_desc *desc, u64 mode);    /* takes the lock */
long kcov_disable(struct kcov_desc *desc, u64 value);  /* takes the lock */
void kcov_own(struct kcov_desc *desc, u32 record);
struct kcov_desc *kcov_disown(struct kcov_desc *desc);    /* the caller frees it; or 0 */
struct kcov_desc *kcov_desc_drop(struct kcov_desc *desc); /* one reference; ditto */
void kcov_desc_free(struct kcov_desc *desc);              /* unlocked; NULL is fine */

/* area.c */
struct vm_pages *kcov_area_of(struct kcov_desc *desc, u64 *words); /* NULL before it is sized */
long kcov_map_area(struct file *file, struct vma *vma, struct vm_pages *area);
struct vm_pages *kcov_area_new(u64 words);
u64 kcov_area_pages(u64 words);
/* Allocates *area, unless it is set: the first of two racing threads wins. False: no memory. */
bool kcov_provide(struct vm_pages **area, u64 words);

/* live.c */
void kcov_set_live(struct kcov_context *ctx);
bool kcov_in_interrupt(void);

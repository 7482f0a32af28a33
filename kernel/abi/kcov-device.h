/*
 * The interface between the kernel and the kcov device: registers and the byte layouts in guest RAM
 * that both of them read and write. devices/kcov-layout.ts mirrors every number and structure here,
 * and has what the kernel never reads, such as the device's errors.
 * test/devices/kcov-layout.test.ts compares the two, so keep one define per line with a plain
 * number, and one field per line with its plain type. All structures are little-endian; addresses
 * in them are physical unless said otherwise.
 *
 * The device's own state is the address registers (HARTS to REMOTES) and the error registers. A
 * snapshot of RAM and of these is a snapshot of kcov.
 */
#pragma once

/* ---- Registers: byte offsets from the base, for ld and sd; other widths are access faults ---- */

#define KCOV_REG_ID         0x000 /* r   KCOV_ID_VALUE */
#define KCOV_REG_HARTS      0x008 /* rw  address of the hart blocks, one per hart id */
#define KCOV_REG_HOOKS      0x010 /* rw  address of the hook table */
#define KCOV_REG_KVA_OFFSET 0x018 /* rw  kernel virtual = physical + this (switch tables) */
#define KCOV_REG_REMOTES    0x020 /* rw  address of the remote table, 0 = none; read for reports */
#define KCOV_REG_CURRENT    0x028 /* rw  context of the accessing hart, 0 = none */
#define KCOV_REG_ARG0       0x100 /* w   first hook operand, latched in the current context */
#define KCOV_REG_ARG1       0x108 /* w   second hook operand */
#define KCOV_REG_TRIGGER    0x200 /* w   + 8 * hook kind: record; the value is the return address */
#define KCOV_REG_SIZE       0x1000

#define KCOV_ID_VALUE 0x1766f636b /* "kcov", then the version of this file */

/*
 * ---- Hook kinds, in the order of the trigger registers and of the hook table ----
 *
 * The hook table has the kernel virtual addresses of the hooks, then two values that the code of
 * the hooks uses: the offset from tp of the pointer to the live context, and the address of the
 * variable that holds the device's base.
 */

#define KCOV_HOOK_PC         0
#define KCOV_HOOK_CMP1       1
#define KCOV_HOOK_CMP2       2
#define KCOV_HOOK_CMP4       3
#define KCOV_HOOK_CMP8       4
#define KCOV_HOOK_CONST_CMP1 5
#define KCOV_HOOK_CONST_CMP2 6
#define KCOV_HOOK_CONST_CMP4 7
#define KCOV_HOOK_CONST_CMP8 8
#define KCOV_HOOK_SWITCH     9

/* ---- Contexts: one per descriptor that traces a thread, one per open remote section ---- */

#define KCOV_CTX_MODE  0 /* offset of the mode, for the hooks */
#define KCOV_CTX_ALIGN 64

/* Bits of KCOV_CTX_MODE: the records to make. PC and CMP exclude each other and the UNIQ bits. */
#define KCOV_RECORD_PC        1
#define KCOV_RECORD_CMP       2
#define KCOV_RECORD_UNIQ_PC   4
#define KCOV_RECORD_UNIQ_EDGE 8
#define KCOV_RECORD_UNIQ_CMP  16
#define KCOV_RECORD_ANY_PC    13 /* the bits that make the pc hook do something */
#define KCOV_RECORD_ANY_CMP   18 /* the bits that make the other hooks do something */

#define KCOV_CTXF_SWITCH_FREEBSD 1 /* switch records as FreeBSD writes them */
#define KCOV_CTXF_DATA_FIRST     2 /* store the record before the count (NetBSD, FreeBSD) */
#define KCOV_CTXF_LIMITED        4 /* set by a hook that stopped at a KCOV_LIMIT_*; stays set */

#define KCOV_KIND_TASK        0
#define KCOV_KIND_REMOTE_TASK 1 /* a remote section in a thread */
#define KCOV_KIND_REMOTE_INTR 2 /* a remote section in an interrupt */

/* Most words of an area: the limit of Linux, the largest of the four dialects. */
#define KCOV_AREA_WORDS_MAX 0x0fffffff

/* ---- Area: word 0 counts records; a pc record is 1 word, a cmp record is 4 ---- */

#define KCOV_CMP_WORDS 4 /* type, arg1, arg2, pc */

/* ---- Seen-set: a hash table with chains over a pool of nodes; never shrinks ---- */

/* A node is u32 next (as in a bucket), u32 zero, then the words of the record. */
#define KCOV_SEEN_NODE_HEADER 8

/*
 * ---- Limits: the most work of one hook ----
 *
 * A hook is one store of the guest, so its cost must be bounded for all operands and chains. At a
 * limit the hook drops the rest of its work and reports KCOV_ERR_LIMIT. Both limits are far above
 * legitimate use: the largest switch statements of today's kernels have some hundred cases, and the
 * average chain has one node per bucket's share: 32 for a million records.
 */
#define KCOV_LIMIT_SWITCH_CASES 16384 /* cases of one switch hook that are recorded */
#define KCOV_LIMIT_SEEN_STEPS   65536 /* nodes of seen-sets that one hook compares */

/* ---- Remotes ---- */

#define KCOV_REMOTES_MAX 1024

#define KCOV_REMOTE_FREE       0 /* slot unused */
#define KCOV_REMOTE_REGISTERED 1 /* known to the kernel, no descriptor attached */
#define KCOV_REMOTE_ATTACHED   2 /* a descriptor is attached */
#define KCOV_REMOTE_DYING      3 /* is freed when its last section ends */

#ifndef __ASSEMBLER__
#include "types.h"

struct kcov_hart {
    u64 context; /* that of the thread that this hart runs, or 0 */
    u64 reserved[7];
};

struct kcov_context {
    u32 mode;       /* KCOV_RECORD_* bits; read again for every record */
    u32 flags;      /* KCOV_CTXF_* */
    u64 area;       /* its address */
    u64 words;      /* its length in words, word 0 included */
    u64 edge_area;  /* address of the edge area (same length), 0 = none */
    u64 seen;       /* address of the seen-set of the area, 0 = none */
    u64 edge_seen;  /* address of the seen-set of the edge area, 0 = none */
    u64 prev;       /* previous pc of edge mode */
    u64 arg0;       /* latched operand */
    u64 arg1;       /* latched operand */
    u64 lost;       /* records dropped because the area was full */
    u32 tid;        /* thread that is traced, or runs the section */
    u32 pid;        /* its process */
    u32 syscall;    /* system call number, 0xffffffff outside one */
    u32 kind;       /* KCOV_KIND_* */
    u64 handle;     /* remote handle, or 0 */
    u64 descriptor; /* number of the descriptor, counted from 1 in this boot */
    u64 reserved[2];
} __attribute__((aligned(KCOV_CTX_ALIGN)));

struct kcov_seen {
    u32 buckets_log2; /* log2 of the number of buckets */
    u32 node_words;   /* words of a remembered record: 1 or 4 */
    u64 nodes;        /* nodes in the pool */
    u64 used;         /* nodes taken */
    u64 buckets;      /* address of buckets: u32, 1 + index of a node, 0 = empty */
    u64 pool;         /* address of the nodes */
    u64 reserved[3];
};

struct kcov_remote_entry {
    u32 state;    /* KCOV_REMOTE_* */
    u32 sections; /* sections open now */
    u64 subsys;   /* subsystem, as the dialect counts them */
    u64 id;       /* id within the subsystem; Linux: the whole handle */
    u64 context;  /* address of the target descriptor's context, or 0 */
    u64 entered;  /* sections entered since the start */
    u64 dropped;  /* section records that did not fit the target's area */
    u64 reserved[2];
};

struct kcov_remotes {
    u32 count; /* entries that follow */
    u32 reserved[15];
    struct kcov_remote_entry entries[KCOV_REMOTES_MAX];
};
#endif

/*
 * The interface between the kernel and the kcov device: registers and the byte layouts in guest RAM
 * that both of them read and write. devices/kcov-layout.ts mirrors every number here and
 * test/devices/kcov-layout.test.ts compares the two, so keep one define per line with a plain
 * number. All structures are little-endian; addresses in them are physical unless said otherwise.
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
#define KCOV_REG_ERROR      0x030 /* rw  first error since it was cleared; any write clears */
#define KCOV_REG_ERROR_ADDR 0x038 /* r   the address that was refused */
#define KCOV_REG_ARG0       0x100 /* w   first hook operand, latched in the current context */
#define KCOV_REG_ARG1       0x108 /* w   second hook operand */
#define KCOV_REG_TRIGGER    0x200 /* w   + 8 * hook kind: record; the value is the return address */
#define KCOV_REG_SIZE       0x1000

#define KCOV_ID_VALUE 0x1766f636b /* "kcov", then the version of this file */

/* ---- Hook kinds, in the order of the trigger registers and of the hook table ---- */

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
#define KCOV_HOOK_COUNT      10

/*
 * Hook table: KCOV_HOOK_COUNT kernel virtual addresses of the hooks, then two values that the code
 * of the hooks uses: the offset from tp of the pointer to the live context, and the address of the
 * variable that holds the device's base.
 */
#define KCOV_HOOKS_LIVE_OFFSET 80
#define KCOV_HOOKS_BASE_VAR    88
#define KCOV_HOOKS_SIZE        96

/* ---- Hart block ---- */

#define KCOV_HART_CURRENT 0 /* u64 context of the thread that this hart runs, or 0 */
#define KCOV_HART_SIZE    64

/* ---- Context: one per descriptor that traces a thread, one per open remote section ---- */

#define KCOV_CTX_MODE       0   /* u32 KCOV_RECORD_* bits; read again for every record */
#define KCOV_CTX_FLAGS      4   /* u32 KCOV_CTXF_* */
#define KCOV_CTX_AREA       8   /* u64 address of the area */
#define KCOV_CTX_WORDS      16  /* u64 its length in words, word 0 included */
#define KCOV_CTX_EDGE_AREA  24  /* u64 address of the edge area (same length), 0 = none */
#define KCOV_CTX_SEEN       32  /* u64 address of the seen-set of the area, 0 = none */
#define KCOV_CTX_EDGE_SEEN  40  /* u64 address of the seen-set of the edge area, 0 = none */
#define KCOV_CTX_PREV       48  /* u64 previous pc of edge mode */
#define KCOV_CTX_ARG0       56  /* u64 latched operand */
#define KCOV_CTX_ARG1       64  /* u64 latched operand */
#define KCOV_CTX_LOST       72  /* u64 records dropped because the area was full */
#define KCOV_CTX_TID        80  /* u32 thread that is traced, or runs the section */
#define KCOV_CTX_PID        84  /* u32 its process */
#define KCOV_CTX_SYSCALL    88  /* u32 system call number, 0xffffffff outside one */
#define KCOV_CTX_KIND       92  /* u32 KCOV_KIND_* */
#define KCOV_CTX_HANDLE     96  /* u64 remote handle, or 0 */
#define KCOV_CTX_DESCRIPTOR 104 /* u64 number of the descriptor, counted from 1 in this boot */
#define KCOV_CTX_SIZE       128
#define KCOV_CTX_ALIGN      64

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

#define KCOV_SEEN_BUCKETS_LOG2 0  /* u32 log2 of the number of buckets */
#define KCOV_SEEN_NODE_WORDS   4  /* u32 words of a remembered record: 1 or 4 */
#define KCOV_SEEN_NODES        8  /* u64 nodes in the pool */
#define KCOV_SEEN_USED         16 /* u64 nodes taken */
#define KCOV_SEEN_BUCKETS      24 /* u64 address of buckets: u32, 1 + index of a node, 0 = empty */
#define KCOV_SEEN_POOL         32 /* u64 address of the nodes */
#define KCOV_SEEN_SIZE         64
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

/* ---- Remote table: a header, then the entries ---- */

#define KCOV_REMOTES_COUNT   0 /* u32 entries that follow */
#define KCOV_REMOTES_HEADER  64
#define KCOV_REMOTE_STATE    0  /* u32 KCOV_REMOTE_* */
#define KCOV_REMOTE_SECTIONS 4  /* u32 sections open now */
#define KCOV_REMOTE_SUBSYS   8  /* u64 subsystem, as the dialect counts them */
#define KCOV_REMOTE_ID       16 /* u64 id within the subsystem; Linux: the whole handle */
#define KCOV_REMOTE_CONTEXT  24 /* u64 address of the target descriptor's context, or 0 */
#define KCOV_REMOTE_ENTERED  32 /* u64 sections entered since the start */
#define KCOV_REMOTE_DROPPED  40 /* u64 section records that did not fit the target's area */
#define KCOV_REMOTE_SIZE     64

#define KCOV_REMOTE_FREE       0 /* slot unused */
#define KCOV_REMOTE_REGISTERED 1 /* known to the kernel, no descriptor attached */
#define KCOV_REMOTE_ATTACHED   2 /* a descriptor is attached */
#define KCOV_REMOTE_DYING      3 /* is freed when its last section ends */

/* ---- Errors ---- */

#define KCOV_ERR_NONE    0
#define KCOV_ERR_HARTS   1 /* hart blocks outside RAM or misaligned */
#define KCOV_ERR_CONTEXT 2 /* context outside RAM or misaligned */
#define KCOV_ERR_AREA    3 /* area or edge area outside RAM, misaligned or too long */
#define KCOV_ERR_SEEN    4 /* seen-set outside RAM or malformed */
#define KCOV_ERR_SWITCH  5 /* switch table outside RAM */
#define KCOV_ERR_HOOKS   6 /* hook table outside RAM */
#define KCOV_ERR_LIMIT   7 /* a hook stopped at a KCOV_LIMIT_*; also KCOV_CTXF_LIMITED */

#ifndef __ASSEMBLER__
#include "types.h"

struct kcov_hart {
    u64 context;
    u64 reserved[7];
};

struct kcov_context {
    u32 mode;
    u32 flags;
    u64 area;
    u64 words;
    u64 edge_area;
    u64 seen;
    u64 edge_seen;
    u64 prev;
    u64 arg0;
    u64 arg1;
    u64 lost;
    u32 tid;
    u32 pid;
    u32 syscall;
    u32 kind;
    u64 handle;
    u64 descriptor;
    u64 reserved[2];
} __attribute__((aligned(KCOV_CTX_ALIGN)));

struct kcov_seen {
    u32 buckets_log2;
    u32 node_words;
    u64 nodes;
    u64 used;
    u64 buckets;
    u64 pool;
    u64 reserved[3];
};

struct kcov_remote_entry {
    u32 state;
    u32 sections;
    u64 subsys;
    u64 id;
    u64 context;
    u64 entered;
    u64 dropped;
    u64 reserved[2];
};

_Static_assert(sizeof(struct kcov_hart) == KCOV_HART_SIZE, "hart block");
_Static_assert(sizeof(struct kcov_context) == KCOV_CTX_SIZE, "context");
_Static_assert(offsetof(struct kcov_context, prev) == KCOV_CTX_PREV, "context");
_Static_assert(offsetof(struct kcov_context, tid) == KCOV_CTX_TID, "context");
_Static_assert(offsetof(struct kcov_context, descriptor) == KCOV_CTX_DESCRIPTOR, "context");
_Static_assert(sizeof(struct kcov_seen) == KCOV_SEEN_SIZE, "seen-set");
_Static_assert(offsetof(struct kcov_seen, pool) == KCOV_SEEN_POOL, "seen-set");
_Static_assert(sizeof(struct kcov_remote_entry) == KCOV_REMOTE_SIZE, "remote");
_Static_assert(offsetof(struct kcov_remote_entry, dropped) == KCOV_REMOTE_DROPPED, "remote");
#endif

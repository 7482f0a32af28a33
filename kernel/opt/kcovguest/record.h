/* The C path of the hooks (record.c) and the seen-sets of Linux (seen.c). */
#pragma once
#include "types.h"
#include "abi/kcov-device.h"
#include "optional.h"

/* Called by entry.S with the operands where the compiler left them. */
void kcov_record_pc(u64 unused0, u64 unused1, struct kcov_context *ctx, u64 pc);
void kcov_record_cmp(u64 arg0, u64 arg1, struct kcov_context *ctx, u64 pc, u64 kind);

enum kcov_verdict { KCOV_SEEN_NEW, KCOV_SEEN_KNOWN, KCOV_SEEN_FULL, KCOV_SEEN_LIMIT };

/* Each node that is compared takes one of *steps; with none left the answer is KCOV_SEEN_LIMIT. */
OPTIONAL(CONFIG_PERSONALITY_LINUX, enum kcov_verdict, kcov_seen_insert,
         (u64 seen_pa, const u64 *record, u32 length, u32 *steps), KCOV_SEEN_KNOWN)

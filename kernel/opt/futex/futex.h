/* futex.h: what futex.c shares with opt/futexops. */
#pragma once

#include "abi/errno.h"
#include "proc.h"
#include "vm.h"
#include "optional.h"

#define FUTEX_ANY 0xffffffffu

/* One lock for all buckets: requeue moves waiters between two of them. */
extern struct spinlock futex_lock;
bool futex_same_key(const struct futex_key *a, const struct futex_key *b);
/* futex_lock held. Wakes up to nwake waiters of key, moves up to nmove further ones to key `to`. */
long futex_wake_and_move(const struct futex_key *key, u32 bitset, int nwake, int nmove,
                         const struct futex_key *to);
long futex_wake_key(const struct futex_key *key, u32 bitset, int n); /* without the lock */
void futex_put_key(const struct futex_key *key);                     /* of vm_futex_key */
/* The commands besides waiting and waking; value2 is in the place of the time. */
OPTIONAL(CONFIG_FUTEX_OPS, long, futex_more,
         (u64 addr, u32 op, u32 value, u64 value2, u64 addr2, u32 value3), -ENOSYS)

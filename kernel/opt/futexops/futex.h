/* futex.h: what futex.c shares with futexops.c. */
#pragma once

#include "abi/errno.h"
#include "proc.h"
#include "vm.h"

/*
 * The key of a futex word: the page in shared areas, the address space elsewhere. The key holds a
 * reference to the page, so that the page cannot become another futex's: give it back with
 * page_put. 0, -EFAULT, or -EINVAL for a misaligned address.
 */
struct futex_key {
    u64 space, offset;
    pa_t page; /* one reference; 0: none */
};
long vm_futex_key(struct vm *vm, va_t addr, struct futex_key *key);

/* One lock for all buckets: requeue moves waiters between two of them. */
extern struct spinlock futex_lock;
bool futex_same_key(const struct futex_key *a, const struct futex_key *b);
/* futex_lock held. Wakes up to nwake waiters of key, moves up to nmove further ones to key `to`. */
long futex_wake_and_move(const struct futex_key *key, u32 bitset, int nwake, int nmove,
                         const struct futex_key *to);
long futex_wake_key(const struct futex_key *key, u32 bitset, int n); /* without the lock */
void futex_put_key(const struct futex_key *key);                     /* of vm_futex_key */
/* The commands besides waiting and waking; value2 is in the place of the time. */
long futex_more(u64 addr, u32 op, u32 value, u64 value2, u64 addr2, u32 value3);

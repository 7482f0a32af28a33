/* futexops.h: the commands of futex(2) that the core has not, and the words of robust mutexes. */
#pragma once

#include "types.h"

#define FUTEX_REQUEUE     3
#define FUTEX_CMP_REQUEUE 4
#define FUTEX_WAKE_OP     5
#define FUTEX_WAKE_BITSET 10
#define FUTEX_WAITERS     0x80000000u
#define FUTEX_OWNER_DIED  0x40000000u
#define FUTEX_TID_MASK    0x3fffffffu

/* Atomic compare-and-exchange of a user word; the old value goes to *old. */
long user_cmpxchg32(va_t addr, u32 expect, u32 desired, u32 *old);

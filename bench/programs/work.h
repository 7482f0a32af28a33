/*
 * One workload is one file that defines work(): a fixed amount of computation whose result depends
 * on all of it. The same source is compiled for the guest, for wasm32 and natively.
 */
#pragma once

typedef unsigned long long u64;
typedef long long s64;
typedef unsigned int u32;
typedef int s32;
typedef unsigned short u16;
typedef unsigned char u8;

#define NOINLINE __attribute__((noinline))

u64 work(void);

/* A small generator (xorshift64*), so that every target computes on the same data. */
static inline u64 next_random(u64 *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

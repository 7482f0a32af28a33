/* The runtime functions that clang expects for wasm32; no runtime library is installed for it. */
#include "programs/work.h"

/* 128-bit product, for sha256.c: schoolbook multiplication of 32-bit halves. */
__int128 __multi3(__int128 a, __int128 b);

__int128 __multi3(__int128 a, __int128 b)
{
    u64 a0 = (u32)a, a1 = (u64)a >> 32, b0 = (u32)b, b1 = (u64)b >> 32;
    u64 middle = a1 * b0 + (a0 * b0 >> 32);
    u64 middle2 = (u32)middle + a0 * b1;
    u64 low = middle2 << 32 | (u32)(a0 * b0);
    u64 high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
    high += (u64)(a >> 64) * (u64)b + (u64)a * (u64)(b >> 64);
    return (__int128)((unsigned __int128)high << 64 | low);
}

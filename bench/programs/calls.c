/* Recursion and 64-bit arithmetic: Fibonacci the slow way, then rounds of shift, xor and multiply,
 * about two for each call.
 */
#include "work.h"

static NOINLINE u64 fib(u64 n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

u64 work(void)
{
    u64 x = fib(27);
    for (u32 i = 0; i < 1300000; i++) {
        x ^= x >> 29;
        x *= 0xbf58476d1ce4e5b9ull;
        x ^= x << 17;
    }
    return x;
}

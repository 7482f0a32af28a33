/* Eratosthenes over bytes. */
#include "work.h"

#define LIMIT (2u << 20)

static u8 composite[LIMIT];

u64 work(void)
{
    u64 primes = 0;
#pragma clang loop vectorize(disable)
    for (u32 i = 0; i < LIMIT; i++)
        composite[i] = 0;
    for (u32 i = 2; i < LIMIT; i++) {
        if (composite[i])
            continue;
        primes++;
        for (u64 j = (u64)i * i; j < LIMIT; j += i)
            composite[j] = 1;
    }
    return primes;
}

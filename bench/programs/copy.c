/* Copies and fills by words, four to a round, as a libc without vectors does. */
#include "work.h"

#define WORDS (2u << 20)

static u64 from[WORDS], to[WORDS];

static NOINLINE void copy(u64 *d, const u64 *s, u64 n)
{
#pragma clang loop vectorize(disable) unroll(disable)
    for (u64 i = 0; i < n; i += 4) {
        d[i] = s[i];
        d[i + 1] = s[i + 1];
        d[i + 2] = s[i + 2];
        d[i + 3] = s[i + 3];
    }
}

static NOINLINE void fill(u64 *d, u64 value, u64 n)
{
#pragma clang loop vectorize(disable) unroll(disable)
    for (u64 i = 0; i < n; i += 4) {
        d[i] = value;
        d[i + 1] = value;
        d[i + 2] = value;
        d[i + 3] = value;
    }
}

u64 work(void)
{
    static u64 round;
    fill(from, ++round, WORDS);
    copy(to, from, WORDS);
    return to[round % WORDS] + to[WORDS - 1];
}

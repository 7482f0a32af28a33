/* SHA-256 (FIPS 180-4) over a megabyte. The constants are computed: fractional parts of roots. */
#include "work.h"

#define BLOCKS 4096

static u32 k[64], first[8];

static u32 rotate(u32 x, int n)
{
    return x >> n | x << (32 - n);
}

/* Upper 32 fractional bits of the square or cube root of a small number, by bisection in integers.
 */
static u32 root_fraction(u64 n, int degree)
{
    u64 low = 0, high = 32ull << 32;
    while (high - low > 1) {
        u64 mid = (low + high) / 2;
        /* mid has 32 fractional bits; compare mid^degree with n without overflow, in long
         * multiplication. */
        unsigned __int128 power = (unsigned __int128)mid * mid >> 32;
        if (degree == 3)
            power = power * mid >> 32;
        if (power >= (unsigned __int128)n << 32)
            high = mid;
        else
            low = mid;
    }
    return (u32)low;
}

static void constants(void)
{
    int count = 0;
    for (u32 n = 2; count < 64; n++) {
        int prime = 1;
        for (u32 d = 2; d * d <= n; d++)
            prime &= n % d != 0;
        if (!prime)
            continue;
        if (count < 8)
            first[count] = root_fraction(n, 2);
        k[count++] = root_fraction(n, 3);
    }
}

static NOINLINE void compress(u32 *state, const u32 *block)
{
    u32 w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = block[i];
    for (int i = 16; i < 64; i++) {
        u32 x = w[i - 15], y = w[i - 2];
        u32 s0 = rotate(x, 7) ^ rotate(x, 18) ^ x >> 3;
        u32 s1 = rotate(y, 17) ^ rotate(y, 19) ^ y >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    for (int i = 0; i < 8; i++)
        s[i] = state[i];
    for (int i = 0; i < 64; i++) {
        u32 e = s[4], a = s[0];
        u32 t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & s[5]) ^ (~e & s[6]));
        t1 += k[i] + w[i];
        u32 t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                 ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--)
            s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

u64 work(void)
{
    static u32 data[16];
    u32 state[8];
    if (!k[0])
        constants();
    for (int i = 0; i < 8; i++)
        state[i] = first[i];
    for (u32 block = 0; block < BLOCKS; block++) {
        for (u32 i = 0; i < 16; i++)
            data[i] = block * 16 + i;
        compress(state, data);
    }
    return (u64)state[0] << 32 | state[7];
}

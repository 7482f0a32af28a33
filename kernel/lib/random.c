/*
 * Random bytes for getrandom(2), /dev/random and AT_RANDOM: xoshiro256** seeded from "seed=" on the
 * command line. Deterministic on purpose: the same seed gives the same run. So the bytes are not
 * secret. Divergence: Linux mixes in boot-time entropy.
 */
#include "klib.h"
#include "lock.h"

static struct spinlock random_lock = SPINLOCK_INIT("random");
static u64 state[4] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 1};

static u64 rotl(u64 x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static u64 step(void)
{
    u64 result = rotl(state[1] * 5, 7) * 9, t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotl(state[3], 45);
    return result;
}

/* Fill the state from one word with splitmix64, as the generator's authors advise. */
void random_mix(u64 seed)
{
    spin_lock(&random_lock);
    for (int i = 0; i < 4; i++) {
        u64 z = (seed += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        state[i] ^= z ^ (z >> 31);
    }
    spin_unlock(&random_lock);
}

void random_init(void)
{
    random_mix(cmdline_get_u64("seed", 0));
}

u64 random_u64(void)
{
    spin_lock(&random_lock);
    u64 value = step();
    spin_unlock(&random_lock);
    return value;
}

void random_bytes(void *buf, size_t n)
{
    for (u8 *p = buf; n;) {
        u64 value = random_u64();
        size_t chunk = MIN(n, sizeof(value));
        memcpy(p, &value, chunk);
        p += chunk;
        n -= chunk;
    }
}

/* stir.h: bytes from outside for the random generator (virtio-rng, writes to /dev/random). */
#pragma once

#include "klib.h"

static inline void random_stir(const void *buf, size_t n)
{
    u64 hash = 0xcbf29ce484222325; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const u8 *)buf)[i]) * 0x100000001b3;
    random_mix(hash);
}

/* Bits of words, as NetBSD counts them. */
#ifndef KCOVBOX_NETBSD_SYS_BITOPS_H
#define KCOVBOX_NETBSD_SYS_BITOPS_H

#include <stdint.h>
#include <sys/cdefs.h>

static inline int __attribute__((__unused__)) fls32(uint32_t n)
{
    return n ? 32 - __builtin_clz(n) : 0;
}

static inline int __attribute__((__unused__)) fls64(uint64_t n)
{
    return n ? 64 - __builtin_clzl(n) : 0;
}

#define ilog2(n) (fls64(n) - 1)

#endif

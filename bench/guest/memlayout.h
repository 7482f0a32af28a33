/* In place of kernel/include/memlayout.h when a bench image borrows the kernel's hooks: virtual is
 * physical here. */
#pragma once
#include "types.h"

#define LINEAR_BASE 0UL

static inline void *pa_to_va(u64 pa)
{
    return (void *)pa;
}

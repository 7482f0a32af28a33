/* slab.h: more about objects of kmalloc(). */
#pragma once

#include "alloc.h"

void *krealloc(void *p, size_t size);
size_t kmalloc_size(const void *p);
/* Objects of size class number `class`: in use, and in total; false after the last class. */
struct kmalloc_stats {
    size_t size, active, total;
};
bool kmalloc_stats(int class, struct kmalloc_stats *out);

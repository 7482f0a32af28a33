/* poison.h: patterns in free memory, for the allocators. */
#pragma once
#include "optional.h"
#include "types.h"

OPTIONAL(CONFIG_POISON, void, poison_pages, (pa_t pa, int order))
OPTIONAL(CONFIG_POISON, void, check_pages, (pa_t pa, int order))
/* Not the first word of an object, which links it to the next free one. */
OPTIONAL(CONFIG_POISON, void, poison_object, (void *p, size_t size))
OPTIONAL(CONFIG_POISON, void, check_object, (void *p, size_t size))

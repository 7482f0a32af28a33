/* page.h: the array of pages, for mm/page.c and the allocator. */
#pragma once
#include "alloc.h"

extern struct page *pages; /* of the RAM from ram_first to ram_end */
extern pa_t ram_first, ram_end;
extern size_t free_pages, total_pages; /* the allocator's lock */
OPTIONAL(CONFIG_BUDDY, void, buddy_init, (void))

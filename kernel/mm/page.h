/* page.h: the array of pages, for mm/page.c and the allocator. */
#pragma once
#include "alloc.h"

extern struct page *pages; /* of the RAM from ram_first to ram_end */
extern pa_t ram_first, ram_end;
extern size_t free_pages, total_pages; /* the allocator's lock */
/* The allocator's part of page_free(), which has checked that such a block is in use. */
void page_return(pa_t pa, int order);
OPTIONAL(CONFIG_BUDDY, void, buddy_init, (void))

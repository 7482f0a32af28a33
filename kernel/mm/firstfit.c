/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Page allocator of a kernel without the option BUDDY: the first free pages in a row. Their kind
 * tells, which changes under the lock; page_put() counts references without it. No page in front of
 * `lowest` is free, so the search for one page is short.
 */
#include "klib.h"
#include "lock.h"
#include "mm/page.h"

#ifndef CONFIG_BUDDY

static struct spinlock page_lock = SPINLOCK_INIT("pages");
static struct page *lowest, *end; /* (lock) end: behind the last range */

/* Ranges come in the order of their addresses. Pages between two stay PAGE_RESERVED. */
void page_add_range(pa_t from, pa_t to)
{
    size_t n = (to - from) >> PAGE_SHIFT;
    struct page *first = page_of(from);
    spin_lock(&page_lock);
    for (size_t i = 0; i < n; i++)
        first[i].kind = PAGE_FREE;
    if (!lowest)
        lowest = first;
    end = first + n;
    free_pages += n;
    total_pages += n;
    spin_unlock(&page_lock);
}

/* n pages in a row, each a block with one reference; 0 if there are none. */
static pa_t take(size_t n)
{
    size_t run = 0;
    if (should_fail_alloc())
        return 0;
    spin_lock(&page_lock);
    struct page *pg = lowest;
    while (pg < end && run < n)
        run = pg++->kind == PAGE_FREE ? run + 1 : 0;
    bool found = run == n;
    if (n == 1)
        lowest = pg;
    for (size_t i = 0; found && i < n; i++) {
        pg--;
        pg->kind = PAGE_USED;
        pg->order = 0;
        pg->refs = 1;
        free_pages--;
    }
    spin_unlock(&page_lock);
    return found ? page_pa(pg) : 0;
}

pa_t page_alloc(int order)
{
    pa_t pa = order > MAX_ORDER ? 0 : take(1UL << order);
    if (pa)
        page_of(pa)->order = (u8)order;
    return pa;
}

void page_return(pa_t pa, int order)
{
    struct page *pg = page_of(pa);
    spin_lock(&page_lock);
    for (size_t i = 0; i < 1UL << order; i++) {
        pg[i].refs = 0;
        pg[i].kind = PAGE_FREE;
        free_pages++;
    }
    lowest = MIN(lowest, pg);
    spin_unlock(&page_lock);
}

pa_t page_alloc_contig(size_t n)
{
    pa_t pa = n ? take(n) : 0;
    if (pa)
        memset(pa_to_va(pa), 0, n * PAGE_SIZE);
    return pa;
}

#endif

/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Page allocator of a kernel without the option BUDDY. Pages that were never used are ranges: a
 * single page comes from the start of one, a block from the end. Pages that were freed are a list,
 * from which a single page comes first; a block is a run of them only when no range has one.
 */
#include "alloc.h"
#include "klib.h"
#include "lock.h"

#ifndef CONFIG_BUDDY

static struct page *pages;
static pa_t ram_first, ram_end;
static struct list free_list = LIST_INIT(free_list);
static struct page_range {
    struct page *first, *end;
} fresh[8];
static size_t fresh_ranges;
static struct spinlock page_lock = SPINLOCK_INIT("pages");
static size_t free_pages, total_pages;

extern char __kernel_end[];

bool pa_is_ram(pa_t pa)
{
    return pa >= ram_first && pa < ram_end;
}

struct page *page_of(pa_t pa)
{
    return &pages[(pa - ram_first) >> PAGE_SHIFT];
}

pa_t page_pa(const struct page *pg)
{
    return ram_first + ((pa_t)(pg - pages) << PAGE_SHIFT);
}

void page_init(pa_t start, pa_t end)
{
    pages = (struct page *)ALIGN_UP(__kernel_end, PAGE_SIZE);
    ram_first = start;
    ram_end = end;
    memset(pages, 0, (end - start) / PAGE_SIZE * sizeof(*pages));
}

void page_add_range(pa_t start, pa_t end)
{
    spin_lock(&page_lock);
    if (fresh_ranges == ARRAY_LEN(fresh))
        panic("RAM has more than %lu ranges", fresh_ranges);
    fresh[fresh_ranges++] = (struct page_range){page_of(start), page_of(end)};
    free_pages += (end - start) >> PAGE_SHIFT;
    total_pages += (end - start) >> PAGE_SHIFT;
    spin_unlock(&page_lock);
}

/* The first of n pages in a row that were never used, or NULL. Needs the lock. */
static struct page *take_fresh(size_t n)
{
    for (struct page_range *range = fresh; range < fresh + fresh_ranges; range++) {
        if ((size_t)(range->end - range->first) < n)
            continue;
        if (n == 1)
            return range->first++;
        range->end -= n;
        return range->end;
    }
    return NULL;
}

/* The first page of a run of n pages that were freed, or NULL. Needs the lock. */
static struct page *find_run(size_t n)
{
    size_t run = 0;
    if (n == 1)
        return list_empty(&free_list) ? NULL : list_first(&free_list, struct page, link);
    for (struct page *pg = page_of(ram_end); pg-- > pages;) {
        run = pg->kind == PAGE_FREE ? run + 1 : 0;
        if (run == n)
            return pg;
    }
    return NULL;
}

/* n pages in a row, each a block with one reference; 0 if there are none. */
static pa_t take(size_t n)
{
    if (should_fail_alloc())
        return 0;
    spin_lock(&page_lock);
    struct page *first = n > 1 || list_empty(&free_list) ? take_fresh(n) : NULL;
    if (!first)
        first = find_run(n);
    for (size_t i = 0; first && i < n; i++) {
        if (first[i].kind == PAGE_FREE)
            list_remove(&first[i].link);
        first[i].kind = PAGE_USED;
        first[i].order = 0;
        first[i].refs = 1;
        free_pages--;
    }
    spin_unlock(&page_lock);
    return first ? page_pa(first) : 0;
}

pa_t page_alloc(int order)
{
    pa_t pa = order > MAX_ORDER ? 0 : take(1UL << order);
    if (pa)
        page_of(pa)->order = (u8)order;
    return pa;
}

void page_free(pa_t pa, int order)
{
    struct page *pg = page_of(pa);
    if (pg->kind != PAGE_USED || pg->order != order)
        panic("page_free: page %lx is of kind %d, order %d, not order %d", pa, pg->kind, pg->order,
              order);
    spin_lock(&page_lock);
    for (size_t i = 0; i < 1UL << order; i++) {
        pg[i].refs = 0;
        pg[i].kind = PAGE_FREE;
        list_push_front(&free_list, &pg[i].link);
        free_pages++;
    }
    spin_unlock(&page_lock);
}

pa_t page_alloc_zeroed(void)
{
    return page_alloc_contig(1);
}

pa_t page_alloc_contig(size_t n)
{
    pa_t pa = n ? take(n) : 0;
    if (pa)
        memset(pa_to_va(pa), 0, n * PAGE_SIZE);
    return pa;
}

void page_put_contig(pa_t pa, size_t n)
{
    for (size_t i = 0; i < n; i++)
        page_put(pa + i * PAGE_SIZE);
}

void page_get(pa_t pa)
{
    atomic_add(&page_of(pa)->refs, 1);
}

void page_put(pa_t pa)
{
    struct page *pg = page_of(pa);
    if (pg->refs == 0)
        panic("page_put: page %lx has no references", pa);
    if (atomic_sub(&pg->refs, 1) == 0) {
        pg->refs = 1;
        page_free(pa, pg->order);
    }
}

u32 page_refs(pa_t pa)
{
    return atomic_load(&page_of(pa)->refs);
}

size_t pages_free_count(void)
{
    return free_pages;
}

size_t pages_total_count(void)
{
    return total_pages;
}

#endif

/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Pages of RAM: one array of struct page, and their reference counts. mm/firstfit.c or opt/buddy
 * finds free ones.
 */
#include "mm/page.h"
#include "klib.h"
#include "lock.h"

struct page *pages;
pa_t ram_first, ram_end;
size_t free_pages, total_pages;

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
    buddy_init();
}

pa_t page_alloc_zeroed(void)
{
    pa_t pa = page_alloc(0);
    if (pa)
        memset(pa_to_va(pa), 0, PAGE_SIZE);
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

void page_free(pa_t pa, int order)
{
    struct page *pg = page_of(pa);
    if (pg->kind != PAGE_USED || pg->order != order)
        panic("page_free: page %lx is of kind %d, order %d, not order %d", pa, pg->kind, pg->order,
              order);
    page_return(pa, order);
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

/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Page allocator: a binary buddy system over one array of struct page. A free block of 2^k pages is
 * aligned to its size and linked through its first page; freeing merges with the buddy as long as
 * that is free and of equal order. Order 15 blocks (128 MiB) exist for kcov areas.
 */
#include "alloc.h"
#include "klib.h"
#include "opt/poison/poison.h"
#include "opt/kasan/kasan.h"
#include "lock.h"
#include "mm/page.h"

static struct list free_lists[MAX_ORDER + 1];
static struct spinlock page_lock = SPINLOCK_INIT("page");

void buddy_init(void)
{
    for (int i = 0; i <= MAX_ORDER; i++)
        list_init(&free_lists[i]);
}

static void free_block(pa_t pa, int order)
{
    free_pages += 1UL << order;
    for (; order < MAX_ORDER; order++) {
        pa_t buddy = pa ^ (PAGE_SIZE << order);
        if (!pa_is_ram(buddy))
            break;
        struct page *b = page_of(buddy);
        if (b->kind != PAGE_FREE || b->order != order)
            break;
        list_remove(&b->link);
        b->kind = PAGE_RESERVED;
        pa &= ~(PAGE_SIZE << order);
    }
    struct page *pg = page_of(pa);
    pg->kind = PAGE_FREE;
    pg->order = (u8)order;
    list_push_front(&free_lists[order], &pg->link);
}

void page_add_range(pa_t start, pa_t end)
{
    spin_lock(&page_lock);
    total_pages += (end - start) >> PAGE_SHIFT;
    while (start < end) {
        int order = 0;
        while (order < MAX_ORDER && !(start & (PAGE_SIZE << order)) &&
               start + (PAGE_SIZE << (order + 1)) <= end)
            order++;
        free_block(start, order);
        start += PAGE_SIZE << order;
    }
    spin_unlock(&page_lock);
}

/* Take a block of the order, splitting a larger one; 0 when there is none. */
static pa_t take_block(int order)
{
    int from = order;
    while (from <= MAX_ORDER && list_empty(&free_lists[from]))
        from++;
    if (from > MAX_ORDER)
        return 0;
    struct page *pg = list_first(&free_lists[from], struct page, link);
    pa_t pa = page_pa(pg);
    list_remove(&pg->link);
    while (from > order) {
        from--;
        struct page *upper = page_of(pa + (PAGE_SIZE << from));
        upper->kind = PAGE_FREE;
        upper->order = (u8)from;
        list_push_front(&free_lists[from], &upper->link);
    }
    free_pages -= 1UL << order;
    pg->kind = PAGE_USED;
    pg->order = (u8)order;
    pg->refs = 1;
    return pa;
}

pa_t page_alloc(int order)
{
    if (order > MAX_ORDER || should_fail_alloc())
        return 0;
    spin_lock(&page_lock);
    pa_t pa = take_block(order);
    spin_unlock(&page_lock);
    if (pa) {
        check_pages(pa, order);
        kasan_alloc_pages(pa_to_va(pa), PAGE_SIZE << order);
    }
    return pa;
}

void page_return(pa_t pa, int order)
{
    kasan_free_pages(pa_to_va(pa), PAGE_SIZE << order);
    poison_pages(pa, order);
    spin_lock(&page_lock);
    page_of(pa)->refs = 0;
    free_block(pa, order);
    spin_unlock(&page_lock);
}

pa_t page_alloc_contig(size_t n)
{
    int order = 0;
    while (order <= MAX_ORDER && (1UL << order) < n)
        order++;
    pa_t pa = n ? page_alloc(order) : 0;
    if (!pa)
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct page *pg = page_of(pa + i * PAGE_SIZE);
        pg->kind = PAGE_USED;
        pg->order = 0;
        pg->refs = 1;
    }
    pa_t end = pa + (PAGE_SIZE << order);
    if (pa + n * PAGE_SIZE < end) {
        page_add_range(pa + n * PAGE_SIZE, end);
        spin_lock(&page_lock);
        total_pages -= (1UL << order) - n;
        spin_unlock(&page_lock);
    }
    memset(pa_to_va(pa), 0, n * PAGE_SIZE);
    return pa;
}

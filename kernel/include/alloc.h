/*
 * Kernel memory. Pages come from mm/firstfit.c or the buddy allocator opt/buddy, small objects from
 * mm/kmalloc.c or the slabs of opt/slab. Every allocator works in any context, never sleeps, and
 * returns 0 / NULL when memory is short or failure injection strikes.
 */
#pragma once
#include "optional.h"
#include "types.h"
#include "list.h"
#include "memlayout.h"

#define MAX_ORDER 15 /* largest block: 2^15 pages = 128 MiB */

enum page_kind { PAGE_RESERVED, PAGE_FREE, PAGE_USED, PAGE_SLAB };

/* One per page of RAM. refs counts each mapping and each owner that keeps the page alive. */
struct page {
    u32 refs;
    u8 kind;
    u8 order;          /* of the block that starts here */
    u16 slab_used;     /* opt/slab: objects in use */
#include "config.page" /* fields of options: page.def (CONFIG_PAGE_FIELDS names them) */
};

/* 2^order contiguous pages, refs = 1 on the first; contents undefined. opt/buddy: aligned to their
 * size. */
pa_t page_alloc(int order);
void page_free(pa_t pa, int order);
/* One zeroed page, refs = 1. */
pa_t page_alloc_zeroed(void);
/*
 * n contiguous zeroed pages, each with refs = 1 of its own, so that a user mapping can outlive the
 * caller's reference; give each back with page_put(). n up to 32768 (128 MiB).
 */
pa_t page_alloc_contig(size_t n);
void page_put_contig(pa_t pa, size_t n);

void page_get(pa_t pa);
void page_put(pa_t pa); /* frees at zero */
u32 page_refs(pa_t pa);
bool pa_is_ram(pa_t pa); /* has a struct page */
struct page *page_of(pa_t pa);
pa_t page_pa(const struct page *pg);
size_t pages_free_count(void);
size_t pages_total_count(void);

void *kmalloc(size_t size); /* aligned to the next power of two of size, at most to a page */
void *kzalloc(size_t size);
void kfree(void *p); /* NULL is fine */
char *kstrdup(const char *s);

/* Allocation failure injection: the n-th allocation of a thread fails (opt/failinject/fail.c). */
OPTIONAL(CONFIG_FAULT_INJECTION, bool, should_fail_alloc, (void), false)

/* opt/kasan: the shadow of RAM, and the memory that it needs. */
OPTIONAL(CONFIG_KASAN, size_t, kasan_shadow_size, (pa_t ram_start, pa_t ram_end), 0)
OPTIONAL(CONFIG_KASAN, void, kasan_init, (void *memory, pa_t ram_start, pa_t ram_end))

void page_init(pa_t ram_start, pa_t ram_end);
void page_add_range(pa_t start, pa_t end); /* hand RAM to the allocator */
OPTIONAL(CONFIG_SLAB, void, kmalloc_init, (void))

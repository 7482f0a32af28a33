/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Small objects in a kernel without the option SLAB: each power of two has a list of free objects,
 * linked through their first words. A page that fills a list keeps its exponent in page->order, and
 * is never given back. Larger objects take whole pages.
 */
#include "alloc.h"
#include "klib.h"
#include "lock.h"

#ifndef CONFIG_SLAB

#define MIN_SHIFT 4
#define MAX_SHIFT 11

static struct spinlock lock = SPINLOCK_INIT("kmalloc");
static void *free_objects[MAX_SHIFT + 1]; /* (lock) by exponent */

static int exponent(size_t size, int least)
{
    int shift = least;
    while ((1UL << shift) < size)
        shift++;
    return shift;
}

/* Needs the lock. */
static void push(void **object, int shift)
{
    *object = free_objects[shift];
    free_objects[shift] = object;
}

/* Needs the lock. */
static void fill(int shift)
{
    pa_t pa = page_alloc(0);
    if (!pa)
        return;
    page_of(pa)->kind = PAGE_SLAB;
    page_of(pa)->order = (u8)shift;
    for (size_t at = PAGE_SIZE; at; at -= 1UL << shift)
        push((void **)((u8 *)pa_to_va(pa) + at - (1UL << shift)), shift);
}

static void *small(int shift)
{
    spin_lock(&lock);
    if (!free_objects[shift])
        fill(shift);
    void **object = free_objects[shift];
    if (object)
        free_objects[shift] = *object;
    spin_unlock(&lock);
    return object;
}

void *kmalloc(size_t size)
{
    if (size > PAGE_SIZE << MAX_ORDER)
        return NULL;
    if (size <= 1UL << MAX_SHIFT)
        return should_fail_alloc() ? NULL : small(exponent(size, MIN_SHIFT));
    pa_t pa = page_alloc(exponent(size, PAGE_SHIFT) - PAGE_SHIFT);
    return pa ? pa_to_va(pa) : NULL;
}

void *kzalloc(size_t size)
{
    void *p = kmalloc(size);
    if (p)
        memset(p, 0, size);
    return p;
}

void kfree(void *p)
{
    pa_t pa = va_to_pa(p);
    if (!p)
        return;
    if (!pa_is_ram(pa))
        panic("kfree: %p is not from kmalloc", p);
    struct page *pg = page_of(ALIGN_DOWN(pa, PAGE_SIZE));
    if (pg->kind != PAGE_SLAB) {
        page_free(pa, pg->order);
        return;
    }
    if (pa & ((1UL << pg->order) - 1))
        panic("kfree: %p is not the start of an object of %lu bytes", p, 1UL << pg->order);
    spin_lock(&lock);
    push(p, pg->order);
    spin_unlock(&lock);
}

char *kstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = kmalloc(n);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

#endif

/* kcov: not instrumented: part of the allocators */
/*
 * poison.c: what is freed is filled with a pattern. If it does not hold the pattern when it is
 * allocated again, something has written to it in between.
 */
#include "opt/poison/poison.h"
#include "klib.h"
#include "memlayout.h"

#define FREE_PAGE   0xaaaaaaaaaaaaaaaaUL
#define FREE_OBJECT 0x6b

void poison_pages(pa_t pa, int order)
{
    u64 *w = pa_to_va(pa);
    for (u64 i = 0; i < (PAGE_SIZE << order) / 8; i++)
        w[i] = FREE_PAGE;
}

/* Checks the first page. Boot memory was never poisoned: its first word is not the pattern. */
void check_pages(pa_t pa, int order)
{
    u64 *w = pa_to_va(pa);
    bool poisoned = w[0] == FREE_PAGE;
    for (u64 i = 0; poisoned && i < PAGE_SIZE / 8; i++)
        if (w[i] != FREE_PAGE)
            panic("page poisoning: %p in a free page holds %lx (order %d)", &w[i], w[i], order);
}

void poison_object(void *p, size_t size)
{
    memset((u8 *)p + sizeof(void *), FREE_OBJECT, size - sizeof(void *));
}

void check_object(void *p, size_t size)
{
    const u8 *b = p;
    for (size_t i = sizeof(void *); i < size; i++)
        if (b[i] != FREE_OBJECT)
            panic("slab poisoning: byte %lu of free object %p (size %lu) is %02x", i, p, size,
                  b[i]);
}

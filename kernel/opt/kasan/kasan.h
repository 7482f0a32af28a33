/*
 * Address sanitizer of the kernel: the calls of the allocators. Empty unless CONFIG_KASAN. See
 * opt/kasan/kasan.c for the shadow encoding and the reports.
 */
#pragma once
#include "types.h"

#ifdef CONFIG_KASAN
#define KASAN_REDZONE 16 /* bytes, at least, after every small object */
void kasan_alloc_pages(void *va, size_t size);
void kasan_free_pages(void *va, size_t size);
void kasan_slab_page(void *va); /* a fresh slab: every object is free */
/* pc: the caller of kmalloc. */
void kasan_alloc_object(void *object, size_t size, size_t capacity, u64 pc);
/* False after it has reported a double free: the caller must not free the object. */
bool kasan_free_object(void *object, size_t capacity, u64 pc);
/* Keeps object and returns one that has waited long enough to be reused, or NULL. */
void *kasan_quarantine(void *object);
#else
#define KASAN_REDZONE                                  0
#define kasan_alloc_pages(va, size)                    ((void)0)
#define kasan_free_pages(va, size)                     ((void)0)
#define kasan_slab_page(va)                            ((void)0)
#define kasan_alloc_object(object, size, capacity, pc) ((void)(pc))
#define kasan_free_object(object, capacity, pc)        true
#define kasan_quarantine(object)                       (object)
#endif

/*
 * Address sanitizer of the kernel: what the allocators tell it. Empty unless CONFIG_KASAN. See
 * mm/kasan.c for the shadow encoding and the reports.
 */
#pragma once
#include "types.h"

#ifdef CONFIG_KASAN
void kasan_init(void);
void kasan_alloc_pages(void *va, size_t size);
void kasan_free_pages(void *va, size_t size);
void kasan_slab_page(void *va); /* a fresh slab: every object is free */
void kasan_alloc_object(void *object, size_t size, size_t capacity);
void kasan_free_object(void *object, size_t capacity);
void kasan_map_stack(u64 va, size_t size);
#else
#define kasan_init()                                   ((void)0)
#define kasan_alloc_pages(va, size)                    ((void)0)
#define kasan_free_pages(va, size)                     ((void)0)
#define kasan_slab_page(va)                            ((void)0)
#define kasan_alloc_object(object, size, capacity)     ((void)0)
#define kasan_free_object(object, capacity)            ((void)0)
#define kasan_map_stack(va, size)                      ((void)0)
#endif

/* kcov: not instrumented: its path depends on everything that ran before */
/*
 * Small objects in power-of-two slabs of one page each; larger ones take whole pages. A slab page
 * links its free objects through their first words, keeps its size class in page->order, and is on
 * the partial list of its class while it has a free object. An empty slab is freed at once.
 */
#include "opt/slab/slab.h"
#include "opt/kasan/kasan.h"
#include "klib.h"
#include "opt/poison/poison.h"
#include "lock.h"

#define MIN_SHIFT 4
#define MAX_SHIFT 11
#define CLASSES   (MAX_SHIFT - MIN_SHIFT + 1)

struct size_class {
    struct spinlock lock;
    struct list partial;
    size_t active, slabs; /* (lock) objects in use or in quarantine; pages */
};

static struct size_class classes[CLASSES];

void kmalloc_init(void)
{
    for (int i = 0; i < CLASSES; i++) {
        spin_init(&classes[i].lock, "slab");
        list_init(&classes[i].partial);
    }
}

bool kmalloc_stats(int class, struct kmalloc_stats *out)
{
    if (class >= CLASSES)
        return false;
    struct size_class *c = &classes[class];
    spin_lock(&c->lock);
    out->size = 1UL << (class + MIN_SHIFT);
    out->active = c->active;
    out->total = c->slabs * (PAGE_SIZE / out->size);
    spin_unlock(&c->lock);
    return true;
}

static int class_of(size_t size)
{
    int shift = MIN_SHIFT;
    while ((1UL << shift) < size)
        shift++;
    return shift - MIN_SHIFT;
}

/* Class lock held. */
static struct page *slab_grow(struct size_class *c, int index)
{
    pa_t pa = page_alloc(0);
    if (!pa)
        return NULL;
    struct page *pg = page_of(pa);
    size_t size = 1UL << (index + MIN_SHIFT);
    u8 *base = pa_to_va(pa);
    pg->kind = PAGE_SLAB;
    pg->order = (u8)index;
    pg->slab_used = 0;
    pg->slab_free = NULL;
    for (size_t at = PAGE_SIZE; at; at -= size) {
        void **object = (void **)(base + at - size);
        *object = pg->slab_free;
        pg->slab_free = object;
        poison_object(object, size);
    }
    kasan_slab_page(base);
    list_push_front(&c->partial, &pg->link);
    c->slabs++;
    return pg;
}

static void *slab_alloc(size_t size, u64 pc)
{
    int index = class_of(size + KASAN_REDZONE);
    size_t capacity = 1UL << (index + MIN_SHIFT);
    struct size_class *c = &classes[index];
    spin_lock(&c->lock);
    struct page *pg =
        list_empty(&c->partial) ? slab_grow(c, index) : list_first(&c->partial, struct page, link);
    void **object = NULL;
    if (pg) {
        object = pg->slab_free;
        pg->slab_free = *object;
        pg->slab_used++;
        c->active++;
        if (!pg->slab_free)
            list_remove(&pg->link);
    }
    spin_unlock(&c->lock);
    if (object) {
        (void)capacity;
        check_object(object, capacity);
        kasan_alloc_object(object, size, capacity, pc);
    }
    return object;
}

static void slab_free(struct page *pg, void *p)
{
    struct size_class *c = &classes[pg->order];
    spin_lock(&c->lock);
    poison_object(p, 1UL << (pg->order + MIN_SHIFT));
    if (!pg->slab_free)
        list_push_front(&c->partial, &pg->link);
    *(void **)p = pg->slab_free;
    pg->slab_free = p;
    bool empty = --pg->slab_used == 0;
    c->active--;
    if (empty) {
        list_remove(&pg->link);
        c->slabs--;
    }
    spin_unlock(&c->lock);
    if (empty) {
        pg->kind = PAGE_USED;
        pg->order = 0;
        page_free(page_pa(pg), 0);
    }
}

/* pc: the return address in the caller. */
static void *alloc(size_t size, u64 pc)
{
    if (size + KASAN_REDZONE <= 1UL << MAX_SHIFT)
        return should_fail_alloc() ? NULL : slab_alloc(size ? size : 1, pc);
    int order = 0;
    while ((PAGE_SIZE << order) < size)
        if (++order > MAX_ORDER)
            return NULL;
    pa_t pa = page_alloc(order);
    if (!pa)
        return NULL;
    kasan_alloc_object(pa_to_va(pa), size, PAGE_SIZE << order, pc);
    return pa_to_va(pa);
}

void *kmalloc(size_t size)
{
    return alloc(size, (u64)__builtin_return_address(0));
}

void *kzalloc(size_t size)
{
    void *p = alloc(size, (u64)__builtin_return_address(0));
    if (p)
        memset(p, 0, size);
    return p;
}

static struct page *page_of_object(const void *p)
{
    pa_t pa = va_to_pa(p);
    if (!pa_is_ram(pa))
        panic("kfree: %p is not from kmalloc", p);
    return page_of(ALIGN_DOWN(pa, PAGE_SIZE));
}

size_t kmalloc_size(const void *p)
{
    struct page *pg = page_of_object(p);
    return pg->kind == PAGE_SLAB ? 1UL << (pg->order + MIN_SHIFT) : PAGE_SIZE << pg->order;
}

void kfree(void *p)
{
    if (!p)
        return;
    struct page *pg = page_of_object(p);
    if (pg->kind == PAGE_SLAB) {
        size_t size = 1UL << (pg->order + MIN_SHIFT);
        if ((u64)p & (size - 1))
            panic("kfree: %p is not the start of an object of %lu bytes", p, size);
        if (!kasan_free_object(p, size, (u64)__builtin_return_address(0)))
            return;
        p = kasan_quarantine(p);
        if (p)
            slab_free(page_of_object(p), p);
    } else {
        page_free(va_to_pa(p), pg->order);
    }
}

void *krealloc(void *p, size_t size)
{
    if (!p)
        return kmalloc(size);
    void *bigger = kmalloc(size);
    if (bigger) {
        memcpy(bigger, p, MIN(size, kmalloc_size(p)));
        kfree(p);
    }
    return bigger;
}

char *kstrdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = kmalloc(n);
    if (copy)
        memcpy(copy, s, n);
    return copy;
}

/*
 * filepages.c: the pages of each file as an array, in a kernel without the option PAGETREE. A page
 * that was never written is a hole, which reads as zeros. A page so far behind the start that there
 * is no array for it (64 GiB) is -ENOMEM.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "fs.h"
#include "klib.h"

#ifndef CONFIG_PAGETREE

struct page_cache {
    u64 room;
    void *page[]; /* NULL: a hole */
};

static struct mutex lock = MUTEX_INIT(lock, "filepages"); /* of all arrays */

/* Makes the array long enough for index. Needs the lock. */
static bool grow(struct inode *inode, u64 index)
{
    struct page_cache *old = inode->pages, *new;
    u64 used = old ? old->room : 0, room = MAX(2 * used, index + 1);

    if (index < used)
        return true;
    new = kzalloc(sizeof(*new) + room * sizeof(void *));
    if (!new)
        return false;
    if (old)
        memcpy(new->page, old->page, used * sizeof(void *));
    new->room = room;
    inode->pages = new;
    kfree(old);
    return true;
}

void *page_cache_get(struct inode *inode, u64 index, bool for_write, int *err)
{
    void *page = NULL;

    mutex_lock(&lock);
    if (grow(inode, index)) {
        void **slot = &inode->pages->page[index];
        pa_t new = *slot ? 0 : page_alloc_zeroed();

        if (new)
            *slot = pa_to_va(new);
        page = *slot;
        if (page)
            page_get(va_to_pa(page));
    }
    mutex_unlock(&lock);
    *err = page ? 0 : -ENOMEM;
    return page;
}

void *page_cache_look(struct inode *inode, u64 index, int *err)
{
    struct page_cache *c;
    bool hole;

    mutex_lock(&lock);
    c = inode->pages;
    hole = !c || index >= c->room || !c->page[index];
    mutex_unlock(&lock);
    *err = 0;
    return hole ? NULL : page_cache_get(inode, index, false, err);
}

void page_cache_drop(struct inode *inode, u64 first)
{
    struct page_cache *c;

    mutex_lock(&lock);
    c = inode->pages;
    for (u64 i = first; c && i < c->room; i++) {
        if (c->page[i])
            page_put(va_to_pa(c->page[i]));
        c->page[i] = NULL;
    }
    mutex_unlock(&lock);
}

void page_cache_free(struct inode *inode)
{
    page_cache_drop(inode, 0);
    kfree(inode->pages);
    inode->pages = NULL;
}

#endif

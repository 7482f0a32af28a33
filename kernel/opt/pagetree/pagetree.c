/*
 * pagetree.c: the pages of files as trees.
 *
 * A file's pages are the leaves of a radix tree with 512-way nodes, one page of memory each, only
 * as high as the largest index needs; a file of one page is just that page. cache->lock covers the
 * tree and the filling of pages.
 *
 * Dirty pages of file systems on a disk are marked, and written by page_cache_flush.
 */
#include "opt/pagetree/pagetree.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"

static struct page_cache *cache_of(struct inode *inode)
{
    struct page_cache *c = atomic_load(&inode->pages);
    struct page_cache *none = NULL;

    if (c)
        return c;
    c = kzalloc(sizeof(*c));
    if (!c)
        return NULL;
    mutex_init(&c->lock, "pagecache");
    c->sb = inode->sb;
    if (!__atomic_compare_exchange_n(&inode->pages, &none, c, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        kfree(c);
        return none;
    }
    return c;
}

/* Makes the tree high enough for index. */
static bool grow(struct page_cache *c, u64 index)
{
    while (index >> (c->height * FANOUT_SHIFT)) {
        pa_t node;

        if (c->root) {
            node = page_alloc_zeroed();
            if (!node)
                return false;
            *(u64 *)pa_to_va(node) = c->root;
            c->root = (u64)pa_to_va(node);
        }
        c->height++;
    }
    return true;
}

u64 *page_cache_slot(struct page_cache *c, u64 index, bool make)
{
    u64 *slot = &c->root;

    if (index >> (c->height * FANOUT_SHIFT) && (!make || !grow(c, index)))
        return NULL;
    for (u32 level = c->height; level > 0; level--) {
        if (!*slot) {
            pa_t node = make ? page_alloc_zeroed() : 0;

            if (!node)
                return NULL;
            *slot = (u64)pa_to_va(node);
        }
        slot = &slots(*slot)[index >> ((level - 1) * FANOUT_SHIFT) & (FANOUT - 1)];
    }
    return slot;
}

void page_cache_give_back(struct page_cache *c)
{
    c->npages--;
    if (c->sb)
        budget_give(&c->sb->pages, 1);
}

static int fill_slot(struct inode *inode, struct page_cache *c, u64 *slot, u64 index)
{
    pa_t pa;
    int err = 0;

    if (c->sb && !budget_take(&c->sb->pages, 1))
        return -ENOSPC;
    c->npages++;
    pa = page_alloc_zeroed();
    if (!pa) {
        page_cache_give_back(c);
        return -ENOMEM;
    }
    if (inode->ops->read_page && index < ALIGN_UP(inode->size, PAGE_SIZE) >> PAGE_SHIFT)
        err = inode->ops->read_page(inode, index, pa_to_va(pa));
    if (err) {
        page_cache_give_back(c);
        page_put(pa);
        return err;
    }
    *slot = (u64)pa_to_va(pa);
    return 0;
}

void *page_cache_get(struct inode *inode, u64 index, bool for_write, int *err)
{
    struct page_cache *c = cache_of(inode);
    void *page = NULL;
    u64 *slot;

    *err = -ENOMEM;
    if (!c)
        return NULL;
    mutex_lock(&c->lock);
    slot = page_cache_slot(c, index, true);
    if (slot)
        *err = *slot ? 0 : fill_slot(inode, c, slot, index);
    if (!*err) {
        page = slots(*slot);
        page_get(va_to_pa(page));
        if (for_write && inode->ops->write_page)
            *slot |= DIRTY;
    }
    mutex_unlock(&c->lock);
    return page;
}

void *page_cache_look(struct inode *inode, u64 index, int *err)
{
    struct page_cache *c = inode->pages;
    u64 *slot;
    bool absent;

    *err = 0;
    if (!inode->ops->read_page) {
        if (!c)
            return NULL;
        mutex_lock(&c->lock);
        slot = page_cache_slot(c, index, false);
        absent = !slot || !*slot;
        mutex_unlock(&c->lock);
        if (absent)
            return NULL;
    }
    return page_cache_get(inode, index, false, err);
}

/* Drops every page at or above first from the subtree; true if that frees all of it. */
static bool drop_pages(struct page_cache *c, u64 *slot, u32 level, u64 base, u64 first)
{
    u64 span = 1UL << (level * FANOUT_SHIFT);
    bool empty = true;

    if (!*slot)
        return true;
    if (first >= base + span)
        return false;
    if (level) {
        for (u32 i = 0; i < FANOUT; i++)
            if (!drop_pages(c, &slots(*slot)[i], level - 1, base + i * (span >> FANOUT_SHIFT),
                            first))
                empty = false;
        if (!empty)
            return false;
    } else {
        page_cache_give_back(c);
    }
    page_put(va_to_pa(slots(*slot)));
    *slot = 0;
    return true;
}

void page_cache_drop(struct inode *inode, u64 first)
{
    struct page_cache *c = inode->pages;

    if (!c)
        return;
    mutex_lock(&c->lock);
    drop_pages(c, &c->root, c->height, 0, first);
    mutex_unlock(&c->lock);
}

void page_cache_free(struct inode *inode)
{
    struct page_cache *c = inode->pages;

    if (!c)
        return;
    drop_pages(c, &c->root, c->height, 0, 0);
    kfree(c);
    inode->pages = NULL;
}

u64 page_cache_pages(const struct inode *inode)
{
    return inode->pages ? inode->pages->npages : 0;
}

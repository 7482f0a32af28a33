/*
 * pagecache.c: the contents of regular files, page by page.
 *
 * A file's pages are the leaves of a radix tree with 512-way nodes, one page of memory each, only
 * as high as the largest index needs; a file of one page is just that page. read, write and every
 * mapping of the file use the same pages, so they always agree.
 *
 * The cache holds one reference of each page, each translation of a mapping another one. Truncation
 * changes, in this order: the size, so that no later fault finds a page beyond the end; the
 * mappings (vm_object_revoke), private copies included; the pages. cache->lock covers the tree and
 * the filling of pages; it is never held while user memory is copied, because a fault in that copy
 * may need a page of the same file.
 *
 * Dirty pages of file systems on a disk are marked, and written by page_cache_flush.
 *
 * Divergence: no page is evicted when memory is short.
 */
#include "pagecache.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "vm.h"

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

/*
 * The page of an index, read or made if absent, with one more reference for the caller. Does not
 * check the file's size.
 */
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

/* The same, but NULL with *err == 0 for a hole. */
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

i64 page_cache_read(struct inode *inode, struct iter *to, i64 pos)
{
    i64 done = 0;
    int err = 0;

    while (to->left && pos < inode->size) {
        u64 in_page = pos & PAGE_MASK;
        u64 n = MIN(MIN(PAGE_SIZE - in_page, to->left), (u64)(inode->size - pos));
        char *page = page_cache_look(inode, pos >> PAGE_SHIFT, &err);
        u64 moved;

        if (err)
            break;
        moved = page ? iter_put(to, page + in_page, n) : iter_zero(to, n);
        if (page)
            page_put(va_to_pa(page));
        done += moved;
        pos += moved;
        if (moved < n) {
            err = -EFAULT;
            break;
        }
    }
    return done ? done : err;
}

/* Needs inode->lock. Extends the size; the caller has checked limits. */
i64 page_cache_write(struct inode *inode, struct iter *from, i64 pos)
{
    i64 done = 0;
    int err = 0;

    while (from->left) {
        u64 in_page = pos & PAGE_MASK;
        u64 n = MIN(PAGE_SIZE - in_page, from->left);
        char *page = page_cache_get(inode, pos >> PAGE_SHIFT, true, &err);
        u64 moved;

        if (err) {
            if (err == -ENOMEM)
                err = -ENOSPC;
            break;
        }
        moved = iter_get(from, page + in_page, n);
        page_put(va_to_pa(page));
        done += moved;
        pos += moved;
        if (pos > inode->size)
            inode->size = pos;
        if (moved < n) {
            err = -EFAULT;
            break;
        }
    }
    if (done)
        inode_touch(inode, true);
    return done ? done : err;
}

/* Drops every page at or above first from the subtree; true if that frees all of it. */
bool page_cache_drop(struct page_cache *c, u64 *slot, u32 level, u64 base, u64 first)
{
    u64 span = 1UL << (level * FANOUT_SHIFT);
    bool empty = true;

    if (!*slot)
        return true;
    if (first >= base + span)
        return false;
    if (level) {
        for (u32 i = 0; i < FANOUT; i++)
            if (!page_cache_drop(c, &slots(*slot)[i], level - 1, base + i * (span >> FANOUT_SHIFT),
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

void page_cache_free(struct inode *inode)
{
    struct page_cache *c = inode->pages;

    if (!c)
        return;
    page_cache_drop(c, &c->root, c->height, 0, 0);
    kfree(c);
    inode->pages = NULL;
}

u64 page_cache_pages(const struct inode *inode)
{
    return inode->pages ? inode->pages->npages : 0;
}

static int cache_fault(struct vma *vma, u64 offset, u32 access, pa_t *pa)
{
    struct inode *inode = vma->file->inode;
    bool write = access & VM_WRITE && vma->flags & VMA_SHARED;
    void *page;
    int err;

    if (offset >= ALIGN_UP(inode->size, PAGE_SIZE))
        return -EIO;
    /* a shared writable page may be written later without another fault: dirty from the start */
    if (vma->flags & VMA_SHARED && vma->prot & VM_WRITE)
        write = true;
    page = page_cache_get(inode, offset >> PAGE_SHIFT, write, &err);
    if (!page)
        return err == -ENOSPC ? -EIO : err; /* SIGBUS, as on Linux */
    *pa = va_to_pa(page);
    return 0;
}

static void cache_open(struct vma *vma)
{
    vm_object_add(vma, &vma->file->inode->mapped);
}

static const struct vm_ops cache_vm_ops = {cache_open, vm_object_remove, cache_fault};

int page_cache_mmap(struct file *file, struct vma *vma)
{
    vma->ops = &cache_vm_ops;
    vm_object_add(vma, &file->inode->mapped);
    inode_accessed(file->inode);
    return 0;
}

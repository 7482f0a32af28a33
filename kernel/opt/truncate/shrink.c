/* shrink.c: the page cache of a file gives up the pages behind the new end. */
#include "alloc.h"
#include "fs/pagecache.h"
#include "fs/tmpfs_node.h"
#include "klib.h"
#include "vm.h"

/*
 * Clears the last page beyond the new end. It becomes dirty, because the old bytes would otherwise
 * come back from the disk when the file grows again.
 */
static int zero_tail(struct inode *inode, i64 size)
{
    int err = 0;
    char *page = size & PAGE_MASK ? page_cache_look(inode, size >> PAGE_SHIFT, &err) : NULL;

    if (!page)
        return err;
    page_put(va_to_pa(page));
    page = page_cache_get(inode, size >> PAGE_SHIFT, true, &err);
    if (page) {
        memset(page + (size & PAGE_MASK), 0, PAGE_SIZE - (size & PAGE_MASK));
        page_put(va_to_pa(page));
    }
    return err;
}

/* Needs inode->lock. Sets the size. Bytes beyond it are lost: they read as zeros after a growth. */
int page_cache_truncate(struct inode *inode, i64 size)
{
    bool shrinks = size < inode->size;
    u64 end = ALIGN_UP(size, PAGE_SIZE);
    int err = shrinks ? zero_tail(inode, size) : 0;

    if (err)
        return err;
    atomic_store(&inode->size, size);
    if (shrinks) {
        struct page_cache *c = inode->pages;

        vm_object_revoke(&inode->mapped, end, ~PAGE_MASK);
        if (c) {
            mutex_lock(&c->lock);
            page_cache_drop(c, &c->root, c->height, 0, end >> PAGE_SHIFT);
            mutex_unlock(&c->lock);
        }
    }
    inode_touch(inode, true);
    return 0;
}

int tmpfs_truncate(struct inode *inode, i64 size)
{
    return page_cache_truncate(inode, size);
}

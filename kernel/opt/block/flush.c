/* flush.c: from the page cache to the disk behind a file. */
#include "opt/pagetree/pagetree.h"
#include "opt/block/flush.h"

static int flush_tree(struct inode *inode, u64 *slot, u32 level, u64 base)
{
    int err = 0;

    if (!*slot)
        return 0;
    if (!level) {
        if (*slot & DIRTY)
            err = inode->ops->write_page(inode, base, slots(*slot));
        if (!err)
            *slot &= ~DIRTY;
        return err;
    }
    for (u32 i = 0; i < FANOUT && !err; i++)
        err = flush_tree(inode, &slots(*slot)[i], level - 1,
                         base + ((u64)i << ((level - 1) * FANOUT_SHIFT)));
    return err;
}

/* Writes dirty pages to the disk behind the file. */
int page_cache_flush(struct inode *inode)
{
    struct page_cache *c = inode->pages;
    int err;

    if (!c || !inode->ops->write_page)
        return 0;
    mutex_lock(&c->lock);
    err = flush_tree(inode, &c->root, c->height, 0);
    mutex_unlock(&c->lock);
    return err;
}

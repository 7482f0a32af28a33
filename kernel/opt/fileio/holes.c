/* holes.c: parts of a file without memory: fallocate(2) makes them, lseek(2) finds them. */
#include "opt/pagetree/pagetree.h"
#include "opt/fileio/holes.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"

/*
 * Clears bytes of a page. A whole page that only the cache refers to is freed; a mapped one stays
 * where it is, so that mapping and file still agree.
 */
static void punch_page(struct page_cache *c, u64 index, u64 from, u64 to)
{
    u64 *slot = page_cache_slot(c, index, false);
    char *page = slot ? (char *)slots(*slot) : NULL;

    if (!page)
        return;
    memset(page + from, 0, to - from);
    if (to - from == PAGE_SIZE && page_refs(va_to_pa(page)) == 1) {
        page_put(va_to_pa(page));
        *slot = 0;
        page_cache_give_back(c);
    }
}

/*
 * The first index from start on, in a subtree, whose page is present (data) or absent (!data); the
 * end of the subtree if there is none. An absent subtree costs one step, however large it is.
 */
static u64 seek_subtree(const u64 *slot, u32 level, u64 base, u64 start, bool data)
{
    u64 span = 1UL << (level * FANOUT_SHIFT), part = span >> FANOUT_SHIFT;

    if (!*slot)
        return data ? base + span : MAX(base, start);
    if (!level)
        return data ? base : base + 1;
    for (u32 i = start > base ? (u32)((start - base) / part) : 0; i < FANOUT; i++) {
        u64 found = seek_subtree(&slots(*slot)[i], level - 1, base + i * part, start, data);

        if (found < base + (i + 1) * part)
            return found;
    }
    return base + span;
}

static u64 next_index(struct page_cache *c, u64 start, u64 end, bool data)
{
    u64 span = 1UL << (c->height * FANOUT_SHIFT), found = start;

    if (start < span)
        found = seek_subtree(&c->root, c->height, 0, start, data);
    else if (data)
        found = end;
    if (found == span && data) /* beyond the tree there are only holes */
        found = end;
    return MIN(found, end);
}

/*
 * Needs inode->lock. For file systems without a disk: a missing page is a hole, and skipped, so the
 * time depends on the pages of the file, not on the length of the range.
 */
int page_cache_punch(struct inode *inode, i64 from, i64 to)
{
    struct page_cache *c = inode->pages;
    u64 end;

    to = MIN(to, inode->size);
    end = from < to ? ALIGN_UP(to, PAGE_SIZE) >> PAGE_SHIFT : 0;
    for (u64 index = (u64)from >> PAGE_SHIFT; c && index < end; index++) {
        mutex_lock(&c->lock);
        index = next_index(c, index, end, true);
        if (index < end) {
            i64 page = (i64)(index << PAGE_SHIFT);

            punch_page(c, index, (u64)(MAX(from, page) - page), MIN((u64)(to - page), PAGE_SIZE));
        }
        mutex_unlock(&c->lock);
        sched_relax();
    }
    inode_touch(inode, true);
    return 0;
}

/*
 * On a file system with a disk everything counts as data: its holes are known to its maps only.
 */
i64 page_cache_seek(struct inode *inode, i64 pos, bool data)
{
    u64 index = (u64)pos >> PAGE_SHIFT, end = ALIGN_UP(inode->size, PAGE_SIZE) >> PAGE_SHIFT, found;
    struct page_cache *c = inode->pages;

    if (inode->ops->read_page)
        return data ? pos : inode->size;
    if (!c)
        return data ? -ENXIO : pos;
    mutex_lock(&c->lock);
    found = next_index(c, index, end, data);
    mutex_unlock(&c->lock);
    if (found == end)
        return data ? -ENXIO : inode->size;
    return found == index ? pos : (i64)(found << PAGE_SHIFT);
}

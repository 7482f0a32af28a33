/* pagetree.h: the tree, for pagetree.c and the options that walk it. */
#pragma once

#include "fs.h"
#include "memlayout.h"

#define FANOUT_SHIFT 9
#define FANOUT       (1u << FANOUT_SHIFT)
#define DIRTY        1UL /* low bit of a leaf slot */

struct page_cache {
    struct mutex lock;
    u32 height;       /* (lock) levels of nodes; 0: root is the slot of page 0 */
    u64 root;         /* (lock) slot: kernel address of a node or page, page | DIRTY, or 0 */
    u64 npages;       /* (lock) pages present */
    struct super *sb; /* its budget is charged for them */
};

static inline u64 *slots(u64 slot)
{
    return (u64 *)(slot & ~DIRTY);
}

/* The slot of a page; NULL if there is none and make is false, or without memory. Needs c->lock. */
u64 *page_cache_slot(struct page_cache *c, u64 index, bool make);
void page_cache_give_back(struct page_cache *c); /* a page has left the cache */

/* The largest size of this file. */
static inline i64 inode_max_bytes(const struct inode *inode)
{
    return inode->sb->max_bytes ? inode->sb->max_bytes : POS_MAX;
}

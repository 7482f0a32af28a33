/* tmpfs_statfs.c: how full a tmpfs is. */
#include "alloc.h"
#include "fs/tmpfs_node.h"
#include "opt/attributes/statfs.h"

static u64 left_of(const struct budget *b)
{
    u64 used = atomic_load(&b->used);

    return b->max > used ? b->max - used : 0;
}

int tmpfs_statfs(struct super *sb, struct statfs64 *out)
{
    out->type = sb->magic;
    out->bsize = PAGE_SIZE;
    out->blocks = sb->pages.max ? sb->pages.max : pages_total_count();
    out->bfree = out->bavail = sb->pages.max ? left_of(&sb->pages) : pages_free_count();
    out->files = sb->inodes.max;
    out->ffree = left_of(&sb->inodes);
    return 0;
}

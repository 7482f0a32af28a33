/* shrink.c: the page cache of a file gives up the pages behind the new end. */
#include "fs/tmpfs_node.h"
#include "vm.h"

/* Needs inode->lock. Sets the size. Bytes beyond it are lost: they read as zeros after a growth. */
int page_cache_truncate(struct inode *inode, i64 size)
{
    bool shrinks = size < inode->size;
    u64 end = ALIGN_UP(size, PAGE_SIZE);
    int err = shrinks ? page_cache_clear_tail(inode, size) : 0;

    if (err)
        return err;
    atomic_store(&inode->size, size);
    if (shrinks) {
        vm_object_revoke(inode, end, ~PAGE_MASK);
        page_cache_drop(inode, end >> PAGE_SHIFT);
    }
    inode_touch(inode, true);
    return 0;
}

int tmpfs_truncate(struct inode *inode, i64 size)
{
    return page_cache_truncate(inode, size);
}

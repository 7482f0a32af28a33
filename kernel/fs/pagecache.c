/*
 * pagecache.c: the contents of regular files. read, write and every mapping of a file use the same
 * pages, so they always agree. fs/filepages.c keeps the pages, or opt/pagetree.
 *
 * The cache holds one reference of each page, each translation of a mapping another one. Truncation
 * changes, in this order: the size, so that no later fault finds a page beyond the end; the
 * mappings (vm_object_revoke), private copies included; the pages. No lock of the cache is held
 * while user memory is copied, because a fault in that copy may need a page of the same file.
 *
 * Divergence: no page is evicted when memory is short.
 */
#include "fs.h"
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "vm.h"

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
    vm_object_add(vma, vma->file->inode);
}

static const struct vm_ops cache_vm_ops = {cache_open, vm_object_remove, cache_fault};

int page_cache_mmap(struct file *file, struct vma *vma)
{
    vma->ops = &cache_vm_ops;
    vm_object_add(vma, file->inode);
    inode_accessed(file->inode);
    return 0;
}

/*
 * Runs of pages that several address spaces map: the memory of a driver, and anonymous shared
 * memory in a kernel without the option SHMEM.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "mm/internal.h"

struct vm_pages *vm_pages_new(size_t npages)
{
    struct vm_pages *p = kzalloc(sizeof(*p));
    if (!p)
        return NULL;
    p->pa = page_alloc_contig(npages);
    if (!p->pa) {
        kfree(p);
        return NULL;
    }
    p->npages = npages;
    p->refs = 1;
    return p;
}

void vm_pages_get(struct vm_pages *p)
{
    atomic_add(&p->refs, 1);
}

void vm_pages_put(struct vm_pages *p)
{
    if (!p || atomic_sub(&p->refs, 1) != 0)
        return;
    page_put_contig(p->pa, p->npages);
    kfree(p);
}

static void pages_open(struct vma *vma)
{
    vm_pages_get(vma->priv);
}

static void pages_close(struct vma *vma)
{
    vm_pages_put(vma->priv);
}

static int pages_fault(struct vma *vma, u64 offset, u32 access, pa_t *pa)
{
    (void)access;
    struct vm_pages *p = vma->priv;
    if (offset >> PAGE_SHIFT >= p->npages)
        return -EIO;
    *pa = p->pa + offset;
    page_get(*pa);
    return 0;
}

static const struct vm_ops pages_ops = {pages_open, pages_close, pages_fault};

int vm_map_pages(struct vma *vma, struct vm_pages *pages)
{
    vma->flags |= VMA_DEVICE;
    vma->priv = pages;
    vma->ops = &pages_ops;
    pages_open(vma);
    return 0;
}

#ifndef CONFIG_SHMEM

int shmem_map(struct vma *vma)
{
    struct vm_pages *pages = vm_pages_new((vma->end - vma->start) >> PAGE_SHIFT);
    if (!pages)
        return -ENOMEM;
    vm_map_pages(vma, pages);
    vm_pages_put(pages); /* the area holds it */
    return 0;
}

#endif

/*
 * Objects whose pages several address spaces map: anonymous shared memory, with pages on demand,
 * and struct vm_pages, a run of pages of a driver.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"

/* MAP_SHARED | MAP_ANONYMOUS */

struct shmem {
    int refs; /* areas */
    struct mutex lock;
    size_t npages;
    pa_t pages[]; /* 0 = not yet touched */
};

static void shmem_open(struct vma *vma)
{
    struct shmem *s = vma->priv;
    atomic_add(&s->refs, 1);
}

static void shmem_close(struct vma *vma)
{
    struct shmem *s = vma->priv;
    if (atomic_sub(&s->refs, 1) != 0)
        return;
    for (size_t i = 0; i < s->npages; i++)
        if (s->pages[i])
            page_put(s->pages[i]);
    kfree(s);
}

static int shmem_fault(struct vma *vma, u64 offset, u32 access, pa_t *pa)
{
    (void)access;
    struct shmem *s = vma->priv;
    size_t i = offset >> PAGE_SHIFT;
    if (i >= s->npages)
        return -EIO;
    mutex_lock(&s->lock);
    if (!s->pages[i])
        s->pages[i] = page_alloc_zeroed();
    *pa = s->pages[i];
    if (*pa)
        page_get(*pa);
    mutex_unlock(&s->lock);
    return *pa ? 0 : -ENOMEM;
}

static const struct vm_ops shmem_ops = {shmem_open, shmem_close, shmem_fault};

int shmem_map(struct vma *vma)
{
    size_t npages = (vma->end - vma->start) >> PAGE_SHIFT;
    /* More than memory ever holds is refused, as by Linux's heuristic overcommit. */
    if (npages > pages_total_count())
        return -ENOMEM;
    struct shmem *s = kzalloc(sizeof(*s) + npages * sizeof(pa_t));
    if (!s)
        return -ENOMEM;
    s->refs = 1;
    s->npages = npages;
    mutex_init(&s->lock, "shmem");
    vma->offset = 0;
    vma->priv = s;
    vma->ops = &shmem_ops;
    return 0;
}

/* Pages of a driver */

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
    if (atomic_sub(&p->refs, 1) != 0)
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

/* shmem.c: MAP_SHARED | MAP_ANONYMOUS with pages on demand. */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"

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

/* merge.c: areas of anonymous memory that are neighbours and alike become one. */
#include "alloc.h"
#include "mm/internal.h"

static bool can_merge(const struct vma *a, const struct vma *b)
{
    return a->end == b->start && !a->ops && !b->ops && !a->file && !b->file && a->prot == b->prot &&
           a->flags == b->flags && a->max_prot == b->max_prot;
}

static void try_merge(struct vma *low, struct vma *high)
{
    if (!can_merge(low, high))
        return;
    low->end = high->end;
    list_remove(&high->link);
    kfree(high);
}

void vma_merge(struct vm *vm, struct vma *vma)
{
    struct list *before = vma->link.prev;
    if (vma->link.next != &vm->areas)
        try_merge(vma, list_entry(vma->link.next, struct vma, link));
    if (before != &vm->areas)
        try_merge(list_entry(before, struct vma, link), vma);
}

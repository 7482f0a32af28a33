/* unmap.c: removes the areas of one segment. */
#include "mm/internal.h"
#include "opt/sysvshm/unmap.h"

bool vm_unmap_matching(struct vm *vm, bool (*chosen)(const struct vma *vma, void *arg), void *arg)
{
    bool any = false;
    mutex_lock(&vm->lock);
    list_for_each_safe(vma, &vm->areas, struct vma, link) {
        if (!chosen(vma, arg))
            continue;
        pt_unmap(vm, vma->start, vma->end);
        vma_delete(vma);
        any = true;
    }
    mutex_unlock(&vm->lock);
    return any;
}

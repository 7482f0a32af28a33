/*
 * Areas of an address space: a list sorted by address, without overlaps.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "klib.h"
#include "mm/internal.h"

struct vma *vma_new(struct vm *vm, va_t start, va_t end, u32 prot, u32 flags)
{
    struct vma *vma = kzalloc(sizeof(*vma));
    if (!vma)
        return NULL;
    list_init(&vma->link);
    vma->vm = vm;
    vma->start = start;
    vma->end = end;
    vma->prot = prot;
    vma->max_prot = VM_READ | VM_WRITE | VM_EXEC;
    vma->flags = flags;
    return vma;
}

struct vma *vma_copy(const struct vma *vma)
{
    struct vma *copy = kmalloc(sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *vma;
    list_init(&copy->link);
    if (copy->file)
        file_get(copy->file);
    if (copy->ops && copy->ops->open)
        copy->ops->open(copy);
    return copy;
}

void vma_delete(struct vma *vma)
{
    list_remove(&vma->link);
    if (vma->ops && vma->ops->close)
        vma->ops->close(vma);
    if (vma->file)
        file_put(vma->file);
    kfree(vma);
}

struct vma *vm_find(struct vm *vm, va_t va)
{
    list_for_each(vma, &vm->areas, struct vma, link) {
        if (va < vma->start)
            return NULL;
        if (va < vma->end)
            return vma;
    }
    return NULL;
}

void vma_link(struct vm *vm, struct vma *vma)
{
    struct list *after = &vm->areas;
    list_for_each(v, &vm->areas, struct vma, link) {
        if (v->start > vma->start)
            break;
        after = &v->link;
    }
    list_push_front(after, &vma->link);
}

struct vma *vma_split(struct vma *vma, va_t at)
{
    struct vma *high = vma_copy(vma);
    if (!high)
        return NULL;
    high->start = at;
    high->offset += at - vma->start;
    vma->end = at;
    list_push_front(&vma->link, &high->link);
    return high;
}

int vma_cut(struct vm *vm, va_t start, va_t end)
{
    va_t cuts[] = {start, end};
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        struct vma *vma = vm_find(vm, cuts[i]);
        if (vma && vma->start != cuts[i] && !vma_split(vma, cuts[i]))
            return -ENOMEM;
    }
    return 0;
}

bool vma_range_free(struct vm *vm, va_t start, va_t end)
{
    list_for_each(vma, &vm->areas, struct vma, link)
        if (vma->start < end && vma->end > start)
            return false;
    return true;
}

/* Highest gap below the stack; at the hint, if that is free. 0 when there is none. */
va_t vma_find_gap(struct vm *vm, u64 len, va_t hint)
{
    hint = ALIGN_DOWN(hint, PAGE_SIZE);
    if (hint >= USER_MIN && hint <= USER_MMAP_TOP && len <= USER_MMAP_TOP - hint &&
        vma_range_free(vm, hint, hint + len))
        return hint;
    va_t top = USER_MMAP_TOP;
    for (struct list *l = vm->areas.prev; l != &vm->areas; l = l->prev) {
        struct vma *vma = list_entry(l, struct vma, link);
        if (vma->start >= top)
            continue;
        if (vma->end <= top && top - vma->end >= len)
            return top - len;
        top = vma->start;
    }
    return top >= USER_MIN + len ? top - len : 0;
}

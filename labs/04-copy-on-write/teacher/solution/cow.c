/*
 * Copy on write: private pages that several address spaces map, or that belong to a file, are
 * mapped read-only. The first write to one gives the writer a page of its own.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"
#include "riscv.h"

static void drop(pa_t pa)
{
    if (pa_is_ram(pa))
        page_put(pa);
}

int cow_copy(pa_t pa, pa_t *copy)
{
    *copy = page_alloc(0);
    if (*copy)
        memcpy(pa_to_va(*copy), pa_to_va(pa), PAGE_SIZE);
    drop(pa);
    return *copy ? 0 : -ENOMEM;
}

/* A shared area's page: its object may have to note the first write. */
static int write_object(struct vma *vma, va_t va)
{
    pa_t again;
    int error =
        vma->ops ? vma->ops->fault(vma, vma->offset + (va - vma->start), VM_WRITE, &again) : 0;
    if (!error && vma->ops)
        drop(again);
    return error;
}

int cow_make_writable(struct vma *vma, va_t va, u64 *pte)
{
    pa_t pa = PTE_PA(*pte);
    if (vma->flags & VMA_SHARED) {
        int error = write_object(vma, va);
        if (error)
            return error;
    } else if (!pa_is_ram(pa) || page_refs(pa) > 1) {
        pa_t copy = page_alloc(0);
        if (!copy)
            return -ENOMEM;
        memcpy(pa_to_va(copy), pa_to_va(pa), PAGE_SIZE);
        *pte = 0;
        vma->vm->resident--;
        tlb_shootdown(vma->vm, va, va + PAGE_SIZE);
        drop(pa);
        pa = copy;
    }
    pt_set(vma->vm, pte, pa, vma, true);
    return 0;
}

/* premap.c: pages of an area that are mapped before the program touches them. */
#include "mm/internal.h"
#include "memlayout.h"

/*
 * Only mmap and fork map pages of an area with VMA_PREMAPPED, and a later fault is SIGBUS: what
 * MADV_DONTNEED has taken away does not come back. So the flag is set when all pages are mapped.
 */
int vma_premap(struct vma *vma)
{
    int error = 0;
    vma->flags &= ~VMA_PREMAPPED;
    for (va_t va = vma->start; !error && va < vma->end; va += PAGE_SIZE)
        error = vma_fault(vma, va, VM_READ);
    vma->flags |= VMA_PREMAPPED;
    if (error)
        pt_unmap(vma->vm, vma->start, vma->end);
    return error;
}

void vm_populate(struct vm *vm, va_t start, va_t end)
{
    for (va_t va = start; va < end; va += PAGE_SIZE) {
        struct vma *vma = vm_find(vm, va);
        if (!vma || vma_fault(vma, va, vma->prot & VM_WRITE ? VM_WRITE : VM_READ))
            return;
    }
}

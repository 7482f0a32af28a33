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

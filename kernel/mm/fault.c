/*
 * Page faults: map the page of an address. Anonymous memory gets a zeroed page, other areas get
 * theirs from the area's ops. Writes to shared pages: cow.c.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "mm/internal.h"
#include "proc.h"
#include "riscv.h"

static int fault_object(struct vma *vma, va_t va, u32 access, pa_t *pa)
{
    return vma->ops->fault(vma, vma->offset + (va - vma->start), access, pa);
}

static int map_new_anonymous(struct vma *vma, u64 *pte)
{
    pa_t pa = page_alloc_zeroed();
    if (!pa)
        return -ENOMEM;
    pt_set(vma->vm, pte, pa, vma, true);
    return 0;
}

static int map_new_object(struct vma *vma, va_t va, u64 *pte, u32 access)
{
    bool shared = vma->flags & VMA_SHARED;
    pa_t pa;
    int error = fault_object(vma, va, shared ? access : access & ~(u32)VM_WRITE, &pa);
    if (error)
        return error;
    bool writable = shared && (access == VM_WRITE || vma->flags & VMA_DEVICE);
    if (!shared && access == VM_WRITE) {
        error = cow_copy(pa, &pa);
        writable = true;
    }
    if (!error)
        pt_set(vma->vm, pte, pa, vma, writable);
    return error;
}

int vma_fault(struct vma *vma, va_t va, u32 access)
{
    va = ALIGN_DOWN(va, PAGE_SIZE);
    u64 *pte = pte_walk(vma->vm->root, va, true);
    int error = 0;
    if (!pte)
        return -ENOMEM;
    if (*pte == 0 && vma->flags & VMA_PREMAPPED)
        error = -EIO;
    else if (*pte == 0)
        error = vma->ops ? map_new_object(vma, va, pte, access) : map_new_anonymous(vma, pte);
    else if (!(*pte & PTE_V))
        error = -EACCES;
    else if (access == VM_WRITE && !(*pte & PTE_W))
        error = cow_make_writable(vma, va, pte);
    sfence_vma(va);
    return error;
}

bool vma_allows(const struct vma *vma, u32 access)
{
    if (access == VM_READ)
        return vma->prot & (VM_READ | VM_WRITE);
    return vma->prot & access;
}

int vm_fault(struct vm *vm, va_t va, u32 access)
{
    if (va >= USER_TOP)
        return -EFAULT;
    mutex_lock(&vm->lock);
    struct vma *vma = vm_find(vm, va);
    int error = !vma ? -EFAULT : !vma_allows(vma, access) ? -EACCES : vma_fault(vma, va, access);
    mutex_unlock(&vm->lock);
    curproc->minflt++;
    return error;
}

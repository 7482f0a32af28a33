/*
 * Page faults: map the page of an address. Anonymous memory gets a zeroed page, other areas get
 * theirs from the area's ops. Writes to shared pages: cow.c.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
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

static bool allowed(const struct vma *vma, u32 access)
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
    int error = !vma ? -EFAULT : !allowed(vma, access) ? -EACCES : vma_fault(vma, va, access);
    mutex_unlock(&vm->lock);
    curproc->minflt++;
    return error;
}

int fetch_page(struct vm *vm, va_t va, bool write, pa_t *pa)
{
    u32 access = write ? VM_WRITE : VM_READ;
    struct vma *vma = vm_find(vm, va);
    if (!vma)
        return -EFAULT;
    u64 *pte = pte_walk(vm->root, ALIGN_DOWN(va, PAGE_SIZE), false);
    if (!pte || !*pte || (write && !(*pte & PTE_W))) {
        int error = vma_fault(vma, va, access);
        if (error)
            return error;
        pte = pte_walk(vm->root, ALIGN_DOWN(va, PAGE_SIZE), false);
    }
    *pa = PTE_PA(*pte);
    return pa_is_ram(*pa) ? 0 : -EFAULT;
}

/* buf == NULL writes zeros, also where the program may not write: exec clears the rest of a page.
 */
static long vm_access(struct vm *vm, u8 *buf, va_t va, size_t n, bool write)
{
    long error = 0;
    mutex_lock(&vm->lock);
    while (n && !error) {
        pa_t pa;
        size_t offset = va & PAGE_MASK, chunk = MIN(n, PAGE_SIZE - offset);
        struct vma *vma = buf ? vm_find(vm, va) : NULL;
        bool lax = BUG(vm_shared_write) && vma && vma->flags & VMA_SHARED;
        bool denied = vma && !allowed(vma, write && !lax ? VM_WRITE : VM_READ);
        if (write && lax)
            BUG_NOTE(vm_shared_write, ~vma->prot & VM_WRITE);
        error = denied ? -EFAULT : fetch_page(vm, va, write, &pa);
        if (error)
            break;
        u8 *page = (u8 *)pa_to_va(pa) + offset;
        if (!buf)
            memset(page, 0, chunk);
        else
            memcpy(write ? page : buf, write ? buf : page, chunk);
        buf = buf ? buf + chunk : NULL;
        va += chunk;
        n -= chunk;
    }
    mutex_unlock(&vm->lock);
    return error;
}

long vm_read(struct vm *vm, void *dst, va_t src, size_t n)
{
    return vm_access(vm, dst, src, n, false);
}

long vm_write(struct vm *vm, va_t dst, const void *src, size_t n)
{
    return vm_access(vm, (u8 *)src, dst, n, true);
}

long vm_zero(struct vm *vm, va_t dst, size_t n)
{
    return vm_access(vm, NULL, dst, n, true);
}

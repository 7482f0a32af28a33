/* vmaccess.c: reading and writing the memory of any address space. */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "klib.h"
#include "mm/internal.h"
#include "opt/vmaccess/vmaccess.h"
#include "riscv.h"

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

/* buf == NULL writes zeros, also where the program may not write. */
static long vm_access(struct vm *vm, u8 *buf, va_t va, size_t n, bool write)
{
    long error = 0;
    mutex_lock(&vm->lock);
    while (n && !error) {
        pa_t pa;
        size_t offset = va & PAGE_MASK, chunk = MIN(n, PAGE_SIZE - offset);
        struct vma *vma = buf ? vm_find(vm, va) : NULL;
        bool lax = BUG(vm_shared_write) && vma && vma->flags & VMA_SHARED;
        bool denied = vma && !vma_allows(vma, write && !lax ? VM_WRITE : VM_READ);
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

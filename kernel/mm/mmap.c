/*
 * mmap, munmap and mprotect: operations on areas and page tables.
 */
#include "abi/errno.h"
#include "abi/mman.h"
#include "file.h"
#include "klib.h"
#include "mm/internal.h"
#include "proc.h"

#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)

static bool range_ok(va_t addr, u64 len)
{
    return len && addr >= USER_MIN && addr < USER_TOP && len <= USER_TOP - addr &&
           addr + len <= USER_TRAMPOLINE;
}

long unmap_locked(struct vm *vm, va_t start, va_t end)
{
    int error = vma_cut(vm, start, end);
    if (error)
        return error;
    list_for_each_safe(vma, &vm->areas, struct vma, link) {
        if (vma->start >= end)
            break;
        if (vma->start < start)
            continue;
        pt_unmap(vm, vma->start, vma->end);
        vma_delete(vma);
    }
    return 0;
}

static u32 area_flags(u32 mmap_flags)
{
    u32 type = mmap_flags & MAP_TYPE;
    return type == MAP_SHARED || type == MAP_SHARED_VALIDATE ? VMA_SHARED : 0;
}

/*
 * Lets the file (or the anonymous shared memory) set the area's ops. Takes the mapping's reference
 * first: a driver whose mappings do not hold the file drops that reference in its mmap.
 */
static long attach_object(struct vma *vma, struct file *file, u64 offset)
{
    if (!file)
        return vma->flags & VMA_SHARED ? shmem_map(vma) : 0;
    if (!file->ops->mmap)
        return -ENODEV;
    if (!(file->fflags & FF_READ))
        return -EACCES;
    bool shared = vma->flags & VMA_SHARED;
    if (shared && !(file->fflags & FF_WRITE)) {
        vma->max_prot &= ~(u32)VM_WRITE;
        if (vma->prot & VM_WRITE)
            return -EACCES;
    }
    vma->offset = offset;
    vma->file = file_get(file);
    long error = file->ops->mmap(file, vma);
    if (error)
        vma->ops = NULL; /* nothing to close; the file goes with the area */
    return error;
}

static long choose_address(struct vm *vm, va_t addr, u64 len, u32 flags)
{
    if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))) {
        va_t at = vma_find_gap(vm, len, addr);
        return at ? (long)at : -ENOMEM;
    }
    if (addr & PAGE_MASK)
        return -EINVAL;
    if (!range_ok(addr, len))
        return -ENOMEM;
    if (flags & MAP_FIXED_NOREPLACE && !vma_range_free(vm, addr, addr + len))
        return -EEXIST;
    return (long)addr;
}

static void populate(struct vm *vm, va_t start, va_t end)
{
    for (va_t va = start; va < end; va += PAGE_SIZE) {
        struct vma *vma = vm_find(vm, va);
        if (!vma || vma_fault(vma, va, vma->prot & VM_WRITE ? VM_WRITE : VM_READ))
            return;
    }
}

static long map_locked(struct vm *vm, va_t addr, u64 len, u32 prot, u32 flags, struct file *file,
                       u64 offset)
{
    if (!vm_may_grow(vm, len))
        return -ENOMEM;
    long at = choose_address(vm, addr, len, flags);
    if (at < 0)
        return at;
    struct vma *vma = vma_new(vm, (va_t)at, (va_t)at + len, prot, area_flags(flags));
    if (!vma)
        return -ENOMEM;
    long error = attach_object(vma, file, offset);
    if (!error && (vma->prot & ~vma->max_prot))
        error = -EACCES;
    if (!error && flags & MAP_FIXED)
        error = unmap_locked(vm, vma->start, vma->end);
    if (!error && vma->flags & VMA_PREMAPPED)
        error = vma_premap(vma);
    if (error) {
        vma_delete(vma);
        return error;
    }
    vma_link(vm, vma);
    vma_merge(vm, vma); /* may free it */
    if (flags & MAP_POPULATE)
        populate(vm, (va_t)at, (va_t)at + len);
    return at;
}

long vm_mmap(struct vm *vm, va_t addr, u64 len, u32 prot, u32 flags, struct file *file, u64 offset)
{
    u32 type = flags & MAP_TYPE;
    if (len == 0 || (type != MAP_PRIVATE && type != MAP_SHARED && type != MAP_SHARED_VALIDATE))
        return -EINVAL;
    if (offset & PAGE_MASK || prot & ~(u32)(PROT_ALL | PROT_GROWSDOWN))
        return -EINVAL;
    if (len > USER_TOP)
        return -ENOMEM;
    len = ALIGN_UP(len, PAGE_SIZE);
    if (offset + len < offset && !(file && file->fflags & FF_ANY_OFFSET))
        return -EOVERFLOW;
    mutex_lock(&vm->lock);
    long at = map_locked(vm, addr, len, prot & PROT_ALL, flags, file, offset);
    mutex_unlock(&vm->lock);
    return at;
}

long vm_map_stack(struct vm *vm, va_t top, u64 size)
{
    struct vma *vma = vma_new(vm, top - size, top, VM_READ | VM_WRITE, VMA_STACK);
    if (!vma)
        return -ENOMEM;
    mutex_lock(&vm->lock);
    vma_link(vm, vma);
    vma_merge(vm, vma);
    mutex_unlock(&vm->lock);
    return 0;
}

long vm_munmap(struct vm *vm, va_t addr, u64 len)
{
    if (addr & PAGE_MASK || len > USER_TOP)
        return -EINVAL;
    len = ALIGN_UP(len, PAGE_SIZE);
    if (!len || addr >= USER_TOP || addr + len > USER_TRAMPOLINE)
        return -EINVAL;
    mutex_lock(&vm->lock);
    long error = unmap_locked(vm, addr, addr + len);
    mutex_unlock(&vm->lock);
    return error;
}

/* True when every page of the range belongs to an area. */
bool range_mapped(struct vm *vm, va_t start, va_t end)
{
    for (va_t at = start; at < end;) {
        struct vma *vma = vm_find(vm, at);
        if (!vma)
            return false;
        at = vma->end;
    }
    return true;
}

static long protect_locked(struct vm *vm, va_t start, va_t end, u32 prot)
{
    if (!range_mapped(vm, start, end))
        return -ENOMEM;
    list_for_each(vma, &vm->areas, struct vma, link)
        if (vma->start < end && vma->end > start && prot & ~vma->max_prot)
            return -EACCES;
    int error = vma_cut(vm, start, end);
    if (error)
        return error;
    list_for_each(vma, &vm->areas, struct vma, link) {
        if (vma->start < start || vma->start >= end)
            continue;
        vma->prot = prot;
        pt_protect(vm, vma);
    }
    tlb_shootdown(vm, start, end);
    return 0;
}

long vm_protect(struct vm *vm, va_t addr, u64 len, u32 prot)
{
    if (addr & PAGE_MASK || prot & ~(u32)PROT_ALL)
        return -EINVAL;
    if (len == 0)
        return 0;
    if (addr >= USER_TOP || len > USER_TOP - addr)
        return -ENOMEM;
    len = ALIGN_UP(len, PAGE_SIZE);
    mutex_lock(&vm->lock);
    long error = protect_locked(vm, addr, addr + len, prot);
    mutex_unlock(&vm->lock);
    return error;
}

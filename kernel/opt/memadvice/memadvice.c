/*
 * memadvice.c: advice on memory. Nothing is ever paged out, so most calls only check that the range
 * is mapped.
 */
#include "abi/errno.h"
#include "mm/internal.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"
#include "opt/memadvice/memadvice.h"

static long advise_one(struct vm *vm, struct vma *vma, va_t start, va_t end, int advice)
{
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
        pt_unmap(vm, MAX(start, vma->start), MIN(end, vma->end));
        return 0;
    case MADV_DONTFORK:
        vma->flags |= VMA_NO_COPY;
        return 0;
    case MADV_DOFORK:
        vma->flags &= ~VMA_NO_COPY;
        return 0;
    case MADV_WIPEONFORK:
        if (vma->ops)
            return -EINVAL;
        vma->flags |= VMA_WIPE;
        return 0;
    case MADV_KEEPONFORK:
        vma->flags &= ~VMA_WIPE;
        return 0;
    default:
        return advice >= 0 && advice <= 25 ? 0 : -EINVAL; /* hints that change nothing here */
    }
}

static long vm_advise(struct vm *vm, va_t addr, u64 len, int advice)
{
    len = ALIGN_UP(len, PAGE_SIZE);
    if (addr & PAGE_MASK || len > USER_TOP || addr >= USER_TOP)
        return -EINVAL;
    va_t end = addr + len;
    mutex_lock(&vm->lock);
    bool splits = advice >= MADV_DONTFORK;
    long error = splits ? vma_cut(vm, addr, end) : 0;
    if (!error && !range_mapped(vm, addr, end))
        error = -ENOMEM;
    list_for_each(vma, &vm->areas, struct vma, link)
        if (!error && vma->start < end && vma->end > addr)
            error = advise_one(vm, vma, addr, end, advice);
    mutex_unlock(&vm->lock);
    return error;
}

long sys_madvise(u64 addr, u64 len, u64 advice)
{
    return vm_advise(curproc->vm, addr, len, (int)advice);
}

/* Shared file pages are the page cache itself, so there is nothing to write back here. */
long sys_msync(u64 addr, u64 len, u64 flags)
{
    if (addr & PAGE_MASK || flags & ~7UL)
        return -EINVAL;
    return vm_advise(curproc->vm, addr, len, MADV_NORMAL);
}

/* Nothing is ever paged out. */
long sys_mlock(u64 addr, u64 len)
{
    return vm_advise(curproc->vm, ALIGN_DOWN(addr, PAGE_SIZE), len + (addr & PAGE_MASK),
                     MADV_NORMAL);
}

long sys_mlock2(u64 addr, u64 len, u64 flags)
{
    return flags & ~1UL ? -EINVAL : sys_mlock(addr, len);
}

long sys_munlock(u64 addr, u64 len)
{
    return sys_mlock(addr, len);
}

long sys_mlockall(u64 flags)
{
    return flags && !(flags & ~7UL) ? 0 : -EINVAL;
}

long sys_munlockall(void)
{
    return 0;
}

long sys_mincore(u64 addr, u64 len, u64 vec)
{
    struct vm *vm = curproc->vm;
    if (addr & PAGE_MASK)
        return -EINVAL;
    for (u64 i = 0; i < ALIGN_UP(len, PAGE_SIZE) / PAGE_SIZE; i++) {
        va_t va = addr + i * PAGE_SIZE;
        mutex_lock(&vm->lock);
        bool mapped = va < USER_TOP && vm_find(vm, va);
        u64 *pte = mapped ? pte_walk(vm->root, va, false) : NULL;
        u8 resident = pte && *pte;
        mutex_unlock(&vm->lock);
        if (!mapped)
            return -ENOMEM;
        if (put_user(vec + i, resident))
            return -EFAULT;
    }
    return 0;
}

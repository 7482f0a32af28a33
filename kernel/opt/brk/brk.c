/* brk.c: the heap behind the program. */
#include "opt/limits/numbers.h"
#include "abi/sched.h"
#include "klib.h"
#include "mm/internal.h"
#include "proc.h"
#include "syscall.h"

static bool brk_grow(struct vm *vm, va_t from, va_t to)
{
    if (to > USER_MMAP_TOP || !vma_range_free(vm, from, to) ||
        to - vm->brk_start > rlimit_get(RLIMIT_DATA))
        return false;
    struct vma *vma = vma_new(vm, from, to, VM_READ | VM_WRITE, VMA_HEAP);
    if (!vma)
        return false;
    vma_link(vm, vma);
    vma_merge(vm, vma);
    return true;
}

long sys_brk(u64 brk)
{
    struct vm *vm = curproc->vm;
    mutex_lock(&vm->lock);
    va_t from = ALIGN_UP(vm->brk, PAGE_SIZE), to = ALIGN_UP(brk, PAGE_SIZE);
    if (brk >= vm->brk_start && brk < USER_TOP) {
        bool ok = true;
        if (to > from)
            ok = brk_grow(vm, from, to);
        else if (to < from)
            ok = unmap_locked(vm, to, from) == 0;
        if (ok)
            vm->brk = brk;
    }
    long result = (long)vm->brk;
    mutex_unlock(&vm->lock);
    return result;
}

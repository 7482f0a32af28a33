/*
 * mremap(2): shrink, grow in place, or move the page table entries elsewhere.
 */
#include "abi/errno.h"
#include "abi/sched.h"
#include "bugs.h"
#include "klib.h"
#include "mm/internal.h"
#include "proc.h"
#include "syscall.h"
#include "opt/mremap/mremap.h"

struct mover {
    struct vm *vm;
    i64 distance;
    bool failed;
};

/* Makes the page tables of the target, which is all of a move that can fail. */
static void make_room(va_t va, u64 *pte, void *arg)
{
    struct mover *m = arg;
    if (!m->failed && !pte_walk(m->vm->root, va + (u64)m->distance, true))
        m->failed = true;
}

static void move_one(va_t va, u64 *pte, void *arg)
{
    struct mover *m = arg;
    *pte_walk(m->vm->root, va + (u64)m->distance, false) = *pte;
    *pte = 0;
}

static void remove_range(struct vm *vm, va_t start, va_t end)
{
    list_for_each_safe(vma, &vm->areas, struct vma, link) {
        if (vma->start < start || vma->start >= end)
            continue;
        pt_unmap(vm, vma->start, vma->end);
        vma_delete(vma);
    }
}

static long move_area(struct vm *vm, struct vma *vma, u64 old_len, u64 new_len, va_t to)
{
    va_t start = vma->start, end = start + MIN(old_len, new_len);
    struct mover m = {.vm = vm, .distance = (i64)(to - start)};
    pt_walk(vm, start, end, make_room, &m);
    struct vma *copy = m.failed ? NULL : vma_copy(vma);
    if (!copy)
        return -ENOMEM;
    copy->start = to;
    copy->end = to + new_len;
    vma_link(vm, copy);
    pt_walk(vm, start, end, move_one, &m);
    tlb_shootdown(vm, start, start + old_len);
    remove_range(vm, start, start + old_len);
    return (long)to;
}

static bool grow_in_place(struct vm *vm, struct vma *vma, va_t end)
{
    if (end > USER_MMAP_TOP || !vma_range_free(vm, vma->end, end))
        return false;
    vma->end = end;
    return true;
}

/* Checks the target of MREMAP_FIXED (page-aligned, no overlap with the source) and unmaps it. */
static long prepare_target(struct vm *vm, va_t addr, u64 old_len, va_t to, u64 new_len)
{
    if (to & PAGE_MASK || to < USER_MIN || to + new_len > USER_MMAP_TOP || to + new_len < to)
        return -EINVAL;
    if (to < addr + old_len && addr < to + new_len)
        return -EINVAL;
    int error = vma_cut(vm, to, to + new_len);
    if (!error)
        remove_range(vm, to, to + new_len);
    return error;
}

static long remap_locked(struct vm *vm, va_t addr, u64 old_len, u64 new_len, u32 flags, va_t to)
{
    struct vma *vma = vm_find(vm, addr);
    if (!vma || addr + old_len > vma->end)
        return -EFAULT;
    if (new_len > old_len && vma->flags & VMA_DEVICE)
        return -EFAULT;
    if (new_len > old_len && !vm_may_grow(vm, new_len - old_len))
        return -ENOMEM;
    if (flags & MREMAP_FIXED) {
        long error = prepare_target(vm, addr, old_len, to, new_len);
        if (error)
            return error;
    } else if (new_len <= old_len) {
        int error = vma_cut(vm, addr + new_len, addr + old_len);
        if (!error && new_len < old_len)
            remove_range(vm, addr + new_len, addr + old_len);
        return error ? error : (long)addr;
    } else if (addr + old_len == vma->end && grow_in_place(vm, vma, addr + new_len)) {
        return (long)addr;
    } else if (!(flags & MREMAP_MAYMOVE)) {
        return -ENOMEM;
    } else if (!(to = vma_find_gap(vm, new_len, 0))) {
        return -ENOMEM;
    }
    if (vma_cut(vm, addr, addr + old_len))
        return -ENOMEM;
    return move_area(vm, vm_find(vm, addr), old_len, new_len, to);
}

static long remap(struct vm *vm, va_t addr, u64 old_len, u64 new_len, u32 flags, va_t new_addr)
{
    BUG_NOTE_MORE(mremap_zero_length, 1, new_len);
    if (addr & PAGE_MASK || flags & ~(u32)(MREMAP_MAYMOVE | MREMAP_FIXED) ||
        (!BUG(mremap_zero_length) && !new_len) || old_len > USER_TOP || new_len > USER_TOP ||
        addr >= USER_TOP)
        return -EINVAL;
    if (flags & MREMAP_FIXED && !(flags & MREMAP_MAYMOVE))
        return -EINVAL;
    old_len = ALIGN_UP(old_len, PAGE_SIZE);
    new_len = ALIGN_UP(new_len, PAGE_SIZE);
    if (!old_len)
        return -EINVAL;
    mutex_lock(&vm->lock);
    long result = remap_locked(vm, addr, old_len, new_len, flags, new_addr);
    mutex_unlock(&vm->lock);
    return result;
}

long sys_mremap(u64 addr, u64 old_len, u64 new_len, u64 flags, u64 new_addr)
{
    return remap(curproc->vm, addr, old_len, new_len, (u32)flags, new_addr);
}

/* Memory system calls: argument checking and the descriptor of mmap; the work is in mm/. */
#include "abi/errno.h"
#include "abi/mman.h"
#include "file.h"
#include "irq.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

long sys_brk(u64 brk)
{
    return vm_brk(curproc->vm, brk);
}

long sys_mmap(u64 addr, u64 len, u64 prot, u64 flags, u64 fd, u64 offset)
{
    struct file *file = NULL;
    if (!(flags & MAP_ANONYMOUS)) {
        file = fd_get((int)fd);
        if (!file)
            return -EBADF;
    }
    long at = vm_mmap(curproc->vm, addr, len, (u32)prot, (u32)flags, file, file ? offset : 0);
    if (file)
        file_put(file);
    return at;
}

long sys_munmap(u64 addr, u64 len)
{
    return vm_munmap(curproc->vm, addr, len);
}

long sys_mprotect(u64 addr, u64 len, u64 prot)
{
    return vm_protect(curproc->vm, addr, len, (u32)prot & ~(u32)PROT_GROWSDOWN);
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

static void fence_here(void *arg)
{
    (void)arg;
    fence_i();
}

/*
 * Without flag 1 (the calling thread only) the other threads must see the new instructions, too:
 * all harts execute a fence. With it also, because the thread may move to another hart.
 */
long sys_riscv_flush_icache(u64 start, u64 end, u64 flags)
{
    (void)start, (void)end;
    if (flags & ~1UL)
        return -EINVAL;
    fence_here(NULL);
    ipi_call((u32)harts_online(), fence_here, NULL);
    return 0;
}

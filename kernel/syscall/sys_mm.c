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

/* Memory system calls: argument checking and the descriptor of mmap; the work is in mm/. */
#include "abi/errno.h"
#include "abi/mman.h"
#include "file.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

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

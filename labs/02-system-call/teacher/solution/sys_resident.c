/* resident(addr, len): how many pages of the range are in memory? */
#include "types.h"
#include "abi/errno.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

long sys_resident(u64 addr, u64 len)
{
    struct vm *vm = curproc->vm;
    long count = 0;

    if (addr % PAGE_SIZE != 0)
        return -EINVAL;
    if (addr > USER_TOP || len > USER_TOP - addr)
        return -ENOMEM;
    mutex_lock(&vm->lock);
    for (va_t va = addr; va < addr + len; va += PAGE_SIZE) {
        if (!vm_find(vm, va)) {
            count = -ENOMEM;
            break;
        }
        u64 *pte = pte_walk(vm->root, va, false);
        if (pte && *pte & PTE_V)
            count++;
    }
    mutex_unlock(&vm->lock);
    return count;
}

/* reserved.c: the limit of an address space. */
#include "opt/limits/reserved.h"
#include "abi/sched.h"
#include "mm/internal.h"
#include "proc.h"

size_t vm_reserved(const struct vm *vm)
{
    size_t bytes = 0;
    list_for_each(vma, &vm->areas, struct vma, link)
        bytes += vma->end - vma->start;
    return bytes;
}

bool vm_may_grow(const struct vm *vm, u64 len)
{
    return vm_reserved(vm) + len <= rlimit_get(RLIMIT_AS);
}

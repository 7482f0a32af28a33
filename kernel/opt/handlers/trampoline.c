/* trampoline.c: the code to which handlers of signals return. */
#include "abi/errno.h"
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"

/* Return code of signal handlers: li a7, 139 (rt_sigreturn); ecall. Mapped in every process. */
static const u32 trampoline_code[] = {0x08b00893, 0x00000073};
static pa_t trampoline_page;

static int trampoline_fault(struct vma *vma, u64 offset, u32 access, pa_t *pa)
{
    (void)vma, (void)offset, (void)access;
    if (!trampoline_page) {
        trampoline_page = page_alloc_zeroed();
        if (!trampoline_page)
            return -ENOMEM;
        memcpy(pa_to_va(trampoline_page), trampoline_code, sizeof(trampoline_code));
    }
    page_get(trampoline_page);
    *pa = trampoline_page;
    return 0;
}

static const struct vm_ops trampoline_ops = {.fault = trampoline_fault};

bool trampoline_map(struct vm *vm)
{
    struct vma *vma =
        vma_new(vm, USER_TRAMPOLINE, USER_TRAMPOLINE + PAGE_SIZE, VM_READ | VM_EXEC, VMA_DEVICE);
    if (!vma)
        return false;
    vma->max_prot = VM_READ | VM_EXEC;
    vma->ops = &trampoline_ops;
    vma_link(vm, vma);
    vma_merge(vm, vma);
    return true;
}

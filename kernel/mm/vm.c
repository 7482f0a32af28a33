/*
 * Address spaces as a whole: creation, copy for fork, sharing, activation on a hart, destruction.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "file.h"
#include "irq.h"
#include "klib.h"
#include "mm/internal.h"
#include "proc.h"
#include "riscv.h"
#include "sbi.h"

static struct vm *vm_alloc(void)
{
    struct vm *vm = kzalloc(sizeof(*vm));
    if (!vm)
        return NULL;
    vm->root = page_alloc_zeroed();
    if (!vm->root) {
        kfree(vm);
        return NULL;
    }
    memcpy((u64 *)pa_to_va(vm->root) + 256, (u64 *)pa_to_va(kernel_root) + 256, 256 * 8);
    mutex_init(&vm->lock, "vm");
    list_init(&vm->areas);
    vm->refs = 1;
    return vm;
}

struct vm *vm_new(void)
{
    struct vm *vm = vm_alloc();
    if (vm && !trampoline_map(vm)) {
        vm_put(vm);
        return NULL;
    }
    return vm;
}

struct sharing {
    struct vma *child;
    int error;
};

/*
 * Maps the page in the child as well. Both lose write permission to a private page until a write
 * fault copies it.
 */
static void share_page(va_t va, u64 *pte, void *arg)
{
    struct sharing *sharing = arg;
    struct vma *child = sharing->child;
    u64 *to = pte_walk(child->vm->root, va, true);
    if (!to) {
        sharing->error = -ENOMEM;
        return;
    }
    if (!(child->flags & VMA_SHARED))
        *pte &= ~(PTE_W | PTE_D);
    if (!(*pte & PTE_SOFT_PFN))
        page_get(PTE_PA(*pte));
    *to = *pte;
    child->vm->resident++;
}

static int clone_area(struct vm *to, struct vm *from, struct vma *vma)
{
    if (vma->flags & VMA_NO_COPY)
        return 0;
    struct vma *copy = vma_copy(vma);
    if (!copy)
        return -ENOMEM;
    copy->vm = to;
    list_push_back(&to->areas, &copy->link);
    bool faults_again = vma->flags & VMA_SHARED && !(vma->flags & VMA_PREMAPPED);
    if (faults_again || vma->flags & VMA_WIPE)
        return 0;
    struct sharing sharing = {.child = copy};
    pt_walk(from, vma->start, vma->end, share_page, &sharing);
    return sharing.error;
}

struct vm *vm_clone(struct vm *from)
{
    struct vm *to = vm_alloc();
    if (!to)
        return NULL;
    int error = 0;
    mutex_lock(&from->lock);
    to->brk_start = from->brk_start, to->brk = from->brk;
    vm_clone_words(to, from);
    list_for_each(vma, &from->areas, struct vma, link) {
        error = clone_area(to, from, vma);
        if (error)
            break;
    }
    tlb_shootdown(from, 0, USER_TOP);
    mutex_unlock(&from->lock);
    to->peak = to->resident;
    if (error) {
        vm_put(to);
        return NULL;
    }
    return to;
}

void vm_get(struct vm *vm)
{
    atomic_add(&vm->refs, 1);
}

static void leave(void *arg)
{
    if (this_cpu()->vm == arg)
        vm_activate(NULL);
}

void vm_destroy(void *arg)
{
    struct vm *vm = arg;
    irq_push_off();
    leave(vm);
    u32 others = atomic_load(&vm->harts);
    irq_pop_off();
    if (others)
        ipi_call(others, leave, vm);
    list_for_each_safe(vma, &vm->areas, struct vma, link) {
        pt_unmap(vm, vma->start, vma->end);
        vma_delete(vma);
    }
    pt_free(vm);
    kfree(vm);
}

void vm_put(struct vm *vm)
{
    if (atomic_sub(&vm->refs, 1) == 0)
        vm_destroy(vm);
}

/* Interrupts off. Kernel threads keep the last user table until it goes away (vm_put). */
void vm_activate(struct vm *vm)
{
    struct cpu *cpu = this_cpu();
    if (cpu->vm == vm)
        return;
    if (vm)
        atomic_or(&vm->harts, 1u << cpu->index);
    csr_write(satp, MAKE_SATP(vm ? vm->root : kernel_root));
    sfence_vma_all();
    if (cpu->vm)
        atomic_and(&cpu->vm->harts, ~(1u << cpu->index));
    cpu->vm = vm;
}

static u64 hartid_mask(u32 harts)
{
    u64 mask = 0;
    for (u32 i = 0; i < MAX_HARTS; i++)
        if (harts & 1u << i)
            mask |= 1UL << cpus[i].hartid;
    return mask;
}

void tlb_shootdown(struct vm *vm, va_t start, va_t end)
{
    irq_push_off();
    u32 me = 1u << this_cpu()->index;
    u32 harts = atomic_load(&vm->harts);
    if (harts & me) {
        if (end - start == PAGE_SIZE)
            sfence_vma(start);
        else
            sfence_vma_all();
    }
    if (harts & ~me)
        sbi_remote_sfence(hartid_mask(harts & ~me), 0, start, end - start);
    irq_pop_off();
}

/*
 * Kernel page tables: the linear map in 1 GiB leaves, except the first GiB of RAM, which uses 2 MiB
 * leaves and, over the kernel image, 4 KiB ones with text RX, constants R and data RW. Kernel
 * stacks are in the mapped area, each above its unmapped guard half (memlayout.h). vm_alloc()
 * copies the upper half of the root into every address space, so all its second-level tables must
 * exist at boot.
 */
#include "alloc.h"
#include "klib.h"
#include "lock.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "vm.h"

#define PTE_KERNEL (PTE_V | PTE_A | PTE_D | PTE_G)
#define MEGA       (1UL << 21)
#define GIGA       (1UL << 30)

extern char __text_start[], __text_end[], __rodata_end[], __kernel_start[];

pa_t kernel_root;
u64 kernel_root_satp; /* for boot/entry.S */

static struct spinlock vmap_lock = SPINLOCK_INIT("vmap");
static u32 stacks_used; /* slots ever handed out */
static struct list free_stacks = LIST_INIT(free_stacks);

u64 *pte_walk(pa_t root, va_t va, bool alloc)
{
    u64 *table = pa_to_va(root);
    for (int level = 2; level > 0; level--) {
        u64 *pte = &table[SV39_INDEX(va, level)];
        if (!(*pte & PTE_V)) {
            pa_t next = alloc ? page_alloc_zeroed() : 0;
            if (!next)
                return NULL;
            *pte = PA_PTE(next) | PTE_V;
        }
        table = pa_to_va(PTE_PA(*pte));
    }
    return &table[SV39_INDEX(va, 0)];
}

static u64 image_bits(va_t va)
{
    if (va >= (u64)__text_start && va < ALIGN_UP(__text_end, PAGE_SIZE))
        return PTE_R | PTE_X;
    if (va >= (u64)__text_start && va < (u64)__rodata_end)
        return PTE_R;
    return PTE_R | PTE_W;
}

static pa_t new_table(void)
{
    pa_t pa = page_alloc_zeroed();
    if (!pa)
        panic("out of memory for kernel page tables");
    return pa;
}

static void map_first_ram(u64 *root)
{
    pa_t middle = new_table();
    u64 *table = pa_to_va(middle);
    for (u64 i = 0; i < 512; i++) {
        pa_t pa = RAM_BASE + i * MEGA;
        va_t va = LINEAR_BASE + pa;
        bool image = va + MEGA > (u64)__kernel_start && va < (u64)__rodata_end;
        table[i] = PA_PTE(pa) | PTE_KERNEL | PTE_R | PTE_W;
        if (!image)
            continue;
        pa_t low = new_table();
        for (u64 j = 0; j < 512; j++)
            ((u64 *)pa_to_va(low))[j] =
                PA_PTE(pa + j * PAGE_SIZE) | PTE_KERNEL | image_bits(va + j * PAGE_SIZE);
        table[i] = PA_PTE(low) | PTE_V;
    }
    root[SV39_INDEX(LINEAR_BASE + RAM_BASE, 2)] = PA_PTE(middle) | PTE_V;
}

void kvm_init(void)
{
    kernel_root = new_table();
    u64 *root = pa_to_va(kernel_root);
    for (u64 pa = 0; pa < LINEAR_SIZE; pa += GIGA)
        root[SV39_INDEX(LINEAR_BASE + pa, 2)] = PA_PTE(pa) | PTE_KERNEL | PTE_R | PTE_W;
    map_first_ram(root);
    root[SV39_INDEX(VMAP_BASE, 2)] = PA_PTE(new_table()) | PTE_V;
    kernel_root_satp = MAKE_SATP(kernel_root);
    csr_write(satp, kernel_root_satp);
    sfence_vma_all();
}

/* A free stack stays mapped; its first words link it. */
va_t kstack_alloc(void)
{
    spin_lock(&vmap_lock);
    if (!list_empty(&free_stacks)) {
        struct list *l = free_stacks.next;
        list_remove(l);
        spin_unlock(&vmap_lock);
        return (va_t)l;
    }
    va_t slot = VMAP_BASE + (u64)stacks_used * KSTACK_SLOT;
    bool mapped = slot + KSTACK_SLOT <= VMAP_BASE + VMAP_SIZE;
    va_t stack = slot + KSTACK_SIZE;
    for (u64 at = 0; mapped && at < KSTACK_SIZE; at += PAGE_SIZE) {
        u64 *pte = pte_walk(kernel_root, stack + at, true);
        if (pte && *pte)
            continue; /* of a call that found too little memory */
        pa_t pa = pte ? page_alloc(0) : 0;
        mapped = pa != 0;
        if (pa)
            *pte = PA_PTE(pa) | PTE_KERNEL | PTE_R | PTE_W;
    }
    if (mapped)
        stacks_used++;
    spin_unlock(&vmap_lock);
    sfence_vma_all();
    return mapped ? stack : 0;
}

void kstack_free(va_t stack)
{
    spin_lock(&vmap_lock);
    list_push_front(&free_stacks, (struct list *)stack);
    spin_unlock(&vmap_lock);
}

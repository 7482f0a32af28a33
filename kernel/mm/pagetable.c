/*
 * User page tables: walking, unmapping, changing protection. Sv39 (Priv §10.4): three levels of 512
 * entries. Unmapping makes the entries invalid, then flushes the TLBs, and only then drops the
 * pages, so that no hart can still write to a page that is free.
 */
#include "alloc.h"
#include "klib.h"
#include "mm/internal.h"
#include "riscv.h"

static u64 level_size(int level)
{
    return PAGE_SIZE << (9 * level);
}

static void walk_table(u64 *table, int level, va_t start, va_t end,
                       void (*fn)(va_t va, u64 *pte, void *arg), void *arg)
{
    for (va_t va = start; va < end;) {
        u64 *pte = &table[SV39_INDEX(va, level)];
        va_t next = MIN(ALIGN_DOWN(va, level_size(level)) + level_size(level), end);
        if (*pte) {
            if (level == 0)
                fn(va, pte, arg);
            else
                walk_table(pa_to_va(PTE_PA(*pte)), level - 1, va, next, fn, arg);
        }
        va = next;
    }
}

void pt_walk(struct vm *vm, va_t start, va_t end, void (*fn)(va_t va, u64 *pte, void *arg),
             void *arg)
{
    walk_table(pa_to_va(vm->root), 2, start, end, fn, arg);
}

/* The page stays with its entry until no hart can have a translation of it. */
static void invalidate_one(va_t va, u64 *pte, void *arg)
{
    (void)va;
    *pte &= ~PTE_V;
    *(bool *)arg = true;
}

static void drop_one(va_t va, u64 *pte, void *arg)
{
    struct vm *vm = arg;
    (void)va;
    if (!(*pte & PTE_SOFT_PFN))
        page_put(PTE_PA(*pte));
    *pte = 0;
    vm->resident--;
}

void pt_unmap(struct vm *vm, va_t start, va_t end)
{
    bool any = false;
    pt_walk(vm, start, end, invalidate_one, &any);
    if (!any)
        return;
    tlb_shootdown(vm, start, end);
    pt_walk(vm, start, end, drop_one, vm);
}

static u64 prot_bits(u32 prot)
{
    u64 bits = PTE_U | PTE_A;
    if (prot & VM_READ || prot & VM_WRITE)
        bits |= PTE_R; /* W without R is reserved (Priv §10.3.1) */
    if (prot & VM_EXEC)
        bits |= PTE_X;
    return bits;
}

void pt_set(struct vm *vm, u64 *pte, pa_t pa, const struct vma *vma, bool writable)
{
    u64 bits = prot_bits(vma->prot) | PTE_V;
    if (writable && vma->prot & VM_WRITE)
        bits |= PTE_W | PTE_D;
    if (!pa_is_ram(pa))
        bits |= PTE_SOFT_PFN;
    if (!*pte) {
        vm->resident++;
        vm->peak = MAX(vm->peak, vm->resident);
    }
    *pte = PA_PTE(pa) | bits;
    if (vma->prot & VM_EXEC)
        fence_i();
}

/*
 * A leaf that is not zero holds a page; PROT_NONE only clears its V bit. A fault restores write
 * permission, because only the fault handler knows about copy on write.
 */
static void protect_one(va_t va, u64 *pte, void *arg)
{
    const struct vma *vma = arg;
    if (vma->prot == 0) {
        *pte &= ~(PTE_V | PTE_W | PTE_D); /* invalid for the hardware, but it keeps the page */
        return;
    }
    u64 keep_write = vma->prot & VM_WRITE ? *pte & (PTE_W | PTE_D) : 0;
    *pte = (*pte & ~(PTE_R | PTE_W | PTE_X)) | prot_bits(vma->prot) | keep_write | PTE_V;
}

void pt_protect(struct vm *vm, struct vma *vma)
{
    pt_walk(vm, vma->start, vma->end, protect_one, vma);
}

static void free_tables(pa_t pa, int level, int entries)
{
    u64 *table = pa_to_va(pa);
    for (int i = 0; level > 0 && i < entries; i++)
        if (table[i] & PTE_V)
            free_tables(PTE_PA(table[i]), level - 1, 512);
    page_put(pa);
}

/* The user half only: the upper half belongs to the kernel's own tables. */
void pt_free(struct vm *vm)
{
    free_tables(vm->root, 2, 256);
}

/* internal.h: areas and page tables, for mm/, opt/mremap and the like. All calls need vm->lock. */
#pragma once
#include "vm.h"
#include "optional.h"

void vm_destroy(void *vm); /* vm.c: after the last reference */

/* opt/exec: where the words of the program are. */
OPTIONAL(CONFIG_EXEC, void, vm_clone_words, (struct vm *to, const struct vm *from))

/* opt/limits: RLIMIT_AS allows so many bytes more. */
OPTIONAL(CONFIG_LIMITS, bool, vm_may_grow, (const struct vm *vm, u64 len), true)

/* vma.c */
struct vma *vma_new(struct vm *vm, va_t start, va_t end, u32 prot, u32 flags);
void vma_link(struct vm *vm, struct vma *vma);
/* opt/brk: joins the area with its neighbours, which may free it. */
OPTIONAL(CONFIG_BRK, void, vma_merge, (struct vm *vm, struct vma *vma))
void vma_delete(struct vma *vma);                /* unlink, close, drop the file, free */
struct vma *vma_split(struct vma *vma, va_t at); /* the upper part, or NULL without memory */
struct vma *vma_copy(const struct vma *vma);     /* not linked; file referenced, open() called */
va_t vma_find_gap(struct vm *vm, u64 len, va_t hint);
bool vma_range_free(struct vm *vm, va_t start, va_t end);
/* Splits the areas at start and end, so that the range consists of whole areas; 0 or -ENOMEM. */
int vma_cut(struct vm *vm, va_t start, va_t end);

/* pagetable.c */
/* Calls fn for every valid leaf in [start, end); tables that do not exist are skipped. */
void pt_walk(struct vm *vm, va_t start, va_t end, void (*fn)(va_t va, u64 *pte, void *arg),
             void *arg);
void pt_unmap(struct vm *vm, va_t start, va_t end); /* also flushes TLBs and drops the pages */
void pt_protect(struct vm *vm, struct vma *vma);    /* apply vma->prot to the mapped pages */
void pt_set(struct vm *vm, u64 *pte, pa_t pa, const struct vma *vma, bool writable);
void pt_free(struct vm *vm);

/* cow.c */
/* A new page with the contents of pa. Drops the caller's reference to pa. */
int cow_copy(pa_t pa, pa_t *copy);
/* The page is mapped read-only: it is shared by copy on write, or a clean page of an object. */
int cow_make_writable(struct vma *vma, va_t va, u64 *pte);

/* fault.c */
int vma_fault(struct vma *vma, va_t va, u32 access);
/* opt/memadvice: maps every page of a new area; 0 or a negative errno, and then none. */
OPTIONAL(CONFIG_MEMADVICE, int, vma_premap, (struct vma *vma), 0)
/* access is VM_READ, VM_WRITE or VM_EXEC. */
bool vma_allows(const struct vma *vma, u32 access);
/* mmap.c */
bool range_mapped(struct vm *vm, va_t addr, va_t end);  /* are all pages of it in areas? */
long unmap_locked(struct vm *vm, va_t start, va_t end); /* all areas, or their parts, in it */
/* opt/handlers: maps the code to which handlers return; false without memory */
OPTIONAL(CONFIG_HANDLERS, bool, trampoline_map, (struct vm *vm), true)
/* shmem.c: MAP_SHARED | MAP_ANONYMOUS */
int shmem_map(struct vma *vma);

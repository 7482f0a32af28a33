/* Shared by the files of mm/: areas, page table walks, deferred freeing. All of it needs vm->lock.
 */
#pragma once
#include "vm.h"

/* vma.c */
struct vma *vma_new(struct vm *vm, va_t start, va_t end, u32 prot, u32 flags);
void vma_link(struct vm *vm, struct vma *vma);
void vma_insert(struct vm *vm, struct vma *vma); /* and merge with neighbours: vma may be gone */
void vma_delete(struct vma *vma);                /* unlink, close, drop the file, free */
struct vma *vma_split(struct vma *vma, va_t at); /* the upper part, or NULL without memory */
struct vma *vma_copy(const struct vma *vma);     /* not linked; file referenced, open() called */
va_t vma_find_gap(struct vm *vm, u64 len, va_t hint);
bool vma_range_free(struct vm *vm, va_t start, va_t end);
/* Make start and end area boundaries, so that whole areas can be worked on; -ENOMEM. */
int vma_cut(struct vm *vm, va_t start, va_t end);

/* pagetable.c */
/* Calls fn for every valid leaf in [start, end); tables that do not exist are skipped. */
void pt_walk(struct vm *vm, va_t start, va_t end, void (*fn)(va_t va, u64 *pte, void *arg),
             void *arg);
void pt_unmap(struct vm *vm, va_t start, va_t end); /* and flush, and drop the page references */
void pt_protect(struct vm *vm, struct vma *vma);    /* apply vma->prot to what is mapped */
void pt_set(struct vm *vm, u64 *pte, pa_t pa, const struct vma *vma, bool writable);
void pt_free(struct vm *vm);

/* fault.c */
int vma_fault(struct vma *vma, va_t va, u32 access);
/* Maps every page of an area that is not there yet; 0 or a negative errno. vm->lock held. */
int vma_premap(struct vma *vma);
/* shmem.c: MAP_SHARED | MAP_ANONYMOUS */
int shmem_map(struct vma *vma);

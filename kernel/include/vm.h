/*
 * Address spaces. A struct vm is one Sv39 table plus a sorted list of areas (struct vma); pages
 * appear on demand through vma->ops->fault. A page in a table holds one reference of struct page
 * (device memory outside RAM holds none).
 *
 * Locking: vm->lock (mutex) covers areas, table and brk. Faults take it, so it must not be held
 * across copyin/copyout. Teardown needs no lock: the last thread is gone.
 */
#pragma once
#include "types.h"
#include "list.h"
#include "lock.h"
#include "memlayout.h"
#include "taskq.h"
#include "optional.h"

struct file;
struct inode;
struct vm;
struct vma;
struct trapframe;

/*
 * opt/revoke: the areas that map a file, which can shrink. They are added when an area maps it
 * (also in ops->open), and removed in ops->close. Without it a mapping keeps the pages that it has.
 */
OPTIONAL(CONFIG_REVOKE, void, vm_object_init, (struct inode *inode))
OPTIONAL(CONFIG_REVOKE, void, vm_object_add, (struct vma *vma, struct inode *inode))
OPTIONAL(CONFIG_REVOKE, void, vm_object_remove, (struct vma *vma))
/*
 * Every mapping of bytes from..to (page-aligned) faults again, private copies too; may sleep. The
 * caller has made faults beyond the new end fail, and frees the pages afterwards; its lock
 * serialises these calls.
 */
OPTIONAL(CONFIG_REVOKE, void, vm_object_revoke, (struct inode *inode, u64 from, u64 to))

/* vma->prot and access bits; the values of PROT_READ etc. */
#define VM_READ  1
#define VM_WRITE 2
#define VM_EXEC  4

/* vma->flags */
#define VMA_SHARED       (1u << 0) /* MAP_SHARED: no copy on write; fork shares the pages */
#define VMA_STACK        (1u << 2)
#define VMA_HEAP         (1u << 3)
#define VMA_DEVICE       (1u << 4) /* not merged or expanded by mremap (like Linux VM_DONTEXPAND) */
#define VMA_NO_COPY      (1u << 5) /* madvise(MADV_DONTFORK) */
#define VMA_WIPE         (1u << 6) /* madvise(MADV_WIPEONFORK) */
#define VMA_MAX_PROT_SET (1u << 7) /* max_prot limits mprotect */
#define VMA_PREMAPPED    (1u << 8) /* only mmap and fork map pages: a fault is SIGBUS */

struct vm_ops {
    /* A copy of the area appears (fork, split) / goes away. Called with vm->lock held. */
    void (*open)(struct vma *vma);
    void (*close)(struct vma *vma);
    /*
     * Physical page for byte offset (page-aligned, from the start of the object, i.e. vma->offset
     * already added); on 0 the caller owns one reference of *pa if it is RAM. Else -ENOMEM, or
     * -EFAULT (SIGSEGV), -EIO (SIGBUS: beyond the end of the object). access = VM_READ, VM_WRITE or
     * VM_EXEC. For private areas the page is only read or copied. Called with vm->lock; may sleep.
     */
    int (*fault)(struct vma *vma, u64 offset, u32 access, pa_t *pa);
};

struct vma {
    struct list link;
    struct vm *vm;
    va_t start, end; /* half open, page-aligned */
    u32 prot, max_prot;
    u32 flags;
    u64 offset;               /* of start in the object, bytes */
    struct file *file;        /* one reference, or NULL; taken and dropped by the vm layer */
    const struct vm_ops *ops; /* NULL = anonymous memory */
    void *priv;
#include "config.vma" /* of options: vma.def */
};

struct vm {
    struct mutex lock;
    struct list areas;
    pa_t root; /* Sv39 root table */
    int refs;  /* threads of other processes that share it (vfork, CLONE_VM) */
    u32 harts; /* bit per hart that may hold translations of it */
    va_t brk_start, brk;
    size_t resident; /* pages mapped */
    size_t peak;
#include "config.vm" /* of options: vm.def */
};

struct vm *vm_new(void);
struct vm *vm_clone(struct vm *vm); /* fork: shared areas shared, private ones copy-on-write */
void vm_get(struct vm *vm);
void vm_put(struct vm *vm);
void vm_activate(struct vm *vm); /* NULL = kernel table; called by the scheduler */

/*
 * Map [addr, addr+len); returns the address or a negative errno. With a file, file->ops->mmap() is
 * called on the finished vma before it becomes visible: it may refuse, or set ops and priv, flags
 * and max_prot. vm->lock is held meanwhile, so no copyin there. Fixed mappings replace the areas in
 * their range.
 */
long vm_mmap(struct vm *vm, va_t addr, u64 len, u32 prot, u32 mmap_flags, struct file *file,
             u64 offset);
long vm_munmap(struct vm *vm, va_t addr, u64 len);
struct vma *vm_find(struct vm *vm, va_t va); /* area that contains va, or NULL; vm->lock held */

/* The main stack: grows on demand inside [top - size, top). */
long vm_map_stack(struct vm *vm, va_t top, u64 size);
long vm_protect(struct vm *vm, va_t addr, u64 len, u32 prot);

/* Resolve a fault of the current process; 0, -EFAULT (SIGSEGV), -EACCES (ditto), -EIO (SIGBUS). */
int vm_fault(struct vm *vm, va_t va, u32 access);
/*
 * oom.c: a fault found no memory. True: a process is being killed for it, maybe this one, so the
 * caller may retry the fault; false: only process 1 is left. May sleep.
 */
OPTIONAL(CONFIG_OOM, bool, oom_kill, (void), false)
void tlb_shootdown(struct vm *vm, va_t start, va_t end);

/*
 * Memory that a driver lets programs map: a counted run of contiguous RAM pages. Its mmap does
 *     return vm_map_pages(vma, area);
 * which maps the same pages each time; they live as long as any mapping, and an access beyond
 * area->npages is -EIO (SIGBUS).
 */
struct vm_pages {
    int refs;
    pa_t pa;
    size_t npages;
};
struct vm_pages *vm_pages_new(size_t npages); /* zeroed; NULL when memory is short */
void vm_pages_get(struct vm_pages *pages);
void vm_pages_put(struct vm_pages *pages);
static inline void *vm_pages_addr(const struct vm_pages *pages)
{
    return pa_to_va(pages->pa);
}
int vm_map_pages(struct vma *vma, struct vm_pages *pages);

/*
 * User memory. Every address is allowed, mapped or not; -EFAULT when it cannot be accessed. These
 * may sleep (demand paging), so no spinlock may be held.
 */
long copyin(void *dst, va_t src, size_t n);
long copyout(va_t dst, const void *src, size_t n);
/* Like the above but returns how many bytes could not be copied. */
size_t copyin_partial(void *dst, va_t src, size_t n);
size_t copyout_partial(va_t dst, const void *src, size_t n);
/* Bytes of the string without NUL; -EFAULT; -ENAMETOOLONG when there is no NUL in max bytes. */
long copyinstr(char *dst, va_t src, size_t max);
long user_zero(va_t dst, size_t n);
/*
 * One aligned load, so no torn value. With a spinlock held, the page is not faulted in: -EFAULT if
 * it is not mapped, because the trap handler resolves faults only with interrupts enabled.
 */
long user_read32(va_t addr, u32 *value);
#define get_user(var, addr) copyin(&(var), (addr), sizeof(var))
#define put_user(addr, var) copyout((addr), &(var), sizeof(var))

/* Kernel page tables (mm/kvm.c). */
void kvm_init(void);
u64 *pte_walk(pa_t root, va_t va, bool alloc);
va_t kstack_alloc(void); /* lowest usable address of a kernel stack, 0 when out of memory */
void kstack_free(va_t stack);
extern pa_t kernel_root;

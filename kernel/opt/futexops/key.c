/* key.c: which word of memory a futex is. */
#include "opt/futexops/futex.h"
#include "alloc.h"
#include "memlayout.h"
#include "mm/internal.h"
#include "opt/vmaccess/vmaccess.h"

long vm_futex_key(struct vm *vm, va_t addr, struct futex_key *key)
{
    if (addr & 3)
        return -EINVAL;
    mutex_lock(&vm->lock);
    struct vma *vma = addr < USER_TOP ? vm_find(vm, addr) : NULL;
    long error = vma ? 0 : -EFAULT;
    *key = (struct futex_key){(u64)vm, addr, 0};
    if (vma && vma->flags & VMA_SHARED) {
        pa_t pa = 0;
        error = fetch_page(vm, addr, false, &pa);
        if (!error)
            page_get(pa = ALIGN_DOWN(pa, PAGE_SIZE));
        *key = (struct futex_key){pa, addr & PAGE_MASK, error ? 0 : pa};
    }
    mutex_unlock(&vm->lock);
    return error;
}

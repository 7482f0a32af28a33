/* vmaccess.h: copyin and copyout for any address space; pages are faulted in as needed. */
#pragma once

#include "vm.h"

long vm_read(struct vm *vm, void *dst, va_t src, size_t n);
long vm_write(struct vm *vm, va_t dst, const void *src, size_t n);
/* Also where the program may not write: exec clears the rest of a page. */
long vm_zero(struct vm *vm, va_t dst, size_t n);
/* One page for kernel use, valid while the caller holds vm->lock. */
int fetch_page(struct vm *vm, va_t va, bool write, pa_t *pa);

/* reserved.h: the size of an address space. */
#pragma once
#include "vm.h"

/* Bytes in areas, with or without pages. Needs vm->lock. */
size_t vm_reserved(const struct vm *vm);

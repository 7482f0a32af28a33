/* unmap.h: removes areas by what they map. */
#pragma once

#include "vm.h"

/* Unmaps the areas that chosen() accepts, in order of address; true if there were any. */
bool vm_unmap_matching(struct vm *vm, bool (*chosen)(const struct vma *vma, void *arg), void *arg);

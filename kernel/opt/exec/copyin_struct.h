/* copyin_struct.h: structures of programs that may be larger or smaller than ours. */
#pragma once

#include "vm.h"

/*
 * An extensible structure: size is the program's, known is ours. Members that the program lacks
 * read as zero; its bytes beyond ours must be zero (-E2BIG).
 */
long copyin_struct(void *dst, size_t known, va_t src, size_t size);

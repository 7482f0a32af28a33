/* copyin_struct.c: extensible arguments, as those of clone3(2) and openat2(2). */
#include "opt/exec/copyin_struct.h"
#include "abi/errno.h"
#include "klib.h"
#include "memlayout.h"

long copyin_struct(void *dst, size_t known, va_t src, size_t size)
{
    if (size > PAGE_SIZE)
        return -E2BIG;
    for (size_t i = known; i < size; i++) {
        u8 more;
        if (copyin(&more, src + i, 1))
            return -EFAULT;
        if (more)
            return -E2BIG;
    }
    memset(dst, 0, known);
    return copyin(dst, src, MIN(known, size));
}

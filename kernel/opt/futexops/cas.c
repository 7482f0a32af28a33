/* cas.c: compare and exchange of a word of user memory. */
#include "abi/errno.h"
#include "vm.h"
#include "opt/futexops/futexops.h"

long user_cas32(u32 *addr, u32 expect, u32 desired, u32 *old);

long user_cmpxchg32(va_t addr, u32 expect, u32 desired, u32 *old)
{
    if (addr & 3 || addr >= USER_TOP)
        return -EFAULT;
    return user_cas32((u32 *)addr, expect, desired, old) ? -EFAULT : 0;
}

/*
 * copyin and copyout. A user pointer is only a claim: it may be unmapped, in the kernel's half,
 * wrap around, or be unmapped during the copy. This file clips the range to user space; every other
 * error appears as a fault inside the loops of uaccess.S.
 */
#include "abi/errno.h"
#include "klib.h"
#include "lock.h"
#include "vm.h"

size_t user_copy(void *dst, const void *src, size_t n);
size_t user_clear(void *dst, size_t n);
long user_strcpy(char *dst, const char *src, size_t max);
long user_load32(const u32 *addr, u32 *value);

/* The number of the n bytes from addr on that lie in user space. */
static size_t user_part(va_t addr, size_t n)
{
    return addr >= USER_TOP ? 0 : MIN(n, USER_TOP - addr);
}

size_t copyin_partial(void *dst, va_t src, size_t n)
{
    lockdebug_assert_may_sleep();
    size_t part = user_part(src, n);
    return n - part + user_copy(dst, (const void *)src, part);
}

size_t copyout_partial(va_t dst, const void *src, size_t n)
{
    lockdebug_assert_may_sleep();
    size_t part = user_part(dst, n);
    return n - part + user_copy((void *)dst, src, part);
}

long copyin(void *dst, va_t src, size_t n)
{
    return copyin_partial(dst, src, n) ? -EFAULT : 0;
}

long copyout(va_t dst, const void *src, size_t n)
{
    return copyout_partial(dst, src, n) ? -EFAULT : 0;
}

long copyinstr(char *dst, va_t src, size_t max)
{
    lockdebug_assert_may_sleep();
    size_t part = user_part(src, max);
    long n = part ? user_strcpy(dst, (const char *)src, part) : -1;
    if (n < 0 || ((size_t)n == part && part < max))
        return -EFAULT;
    return (size_t)n == max ? -ENAMETOOLONG : n;
}

long user_zero(va_t dst, size_t n)
{
    size_t part = user_part(dst, n);
    return part < n || user_clear((void *)dst, n) ? -EFAULT : 0;
}

long user_read32(va_t addr, u32 *value)
{
    if (addr & 3 || user_part(addr, 4) != 4)
        return -EFAULT;
    return user_load32((const u32 *)addr, value) ? -EFAULT : 0;
}

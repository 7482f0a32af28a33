/* kcov: not instrumented: the compiler calls mem* anywhere, also from the hooks */
/*
 * Memory and string functions. Copies go by words when both sides are aligned alike; the library
 * is small on purpose, because every emulated instruction counts in boot time.
 */
#include "klib.h"

void *memset(void *dst, int c, size_t n)
{
    u8 *d = dst;
    u64 pattern = (u8)c * 0x0101010101010101UL;
    while (n && ((u64)d & 7)) {
        *d++ = (u8)c;
        n--;
    }
    for (; n >= 64; n -= 64, d += 64) {
        u64 *w = (u64 *)d;
        w[0] = w[1] = w[2] = w[3] = w[4] = w[5] = w[6] = w[7] = pattern;
    }
    for (; n >= 8; n -= 8, d += 8)
        *(u64 *)d = pattern;
    while (n--)
        *d++ = (u8)c;
    return dst;
}

void *memcpy(void *dst, const void *src, size_t n)
{
    u8 *d = dst;
    const u8 *s = src;
    if ((((u64)d ^ (u64)s) & 7) == 0) {
        while (n && ((u64)d & 7)) {
            *d++ = *s++;
            n--;
        }
        for (; n >= 32; n -= 32, d += 32, s += 32) {
            u64 a = ((const u64 *)s)[0], b = ((const u64 *)s)[1];
            u64 e = ((const u64 *)s)[2], f = ((const u64 *)s)[3];
            ((u64 *)d)[0] = a;
            ((u64 *)d)[1] = b;
            ((u64 *)d)[2] = e;
            ((u64 *)d)[3] = f;
        }
        for (; n >= 8; n -= 8, d += 8, s += 8)
            *(u64 *)d = *(const u64 *)s;
    }
    while (n--)
        *d++ = *s++;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    u8 *d = dst;
    const u8 *s = src;
    if (d <= s || d >= s + n)
        return memcpy(dst, src, n);
    if ((((u64)d ^ (u64)s) & 7) == 0) {
        while (n && ((u64)(d + n) & 7)) {
            n--;
            d[n] = s[n];
        }
        for (; n >= 8; n -= 8)
            *(u64 *)(d + n - 8) = *(const u64 *)(s + n - 8);
    }
    while (n--)
        d[n] = s[n];
    return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const u8 *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

void *memchr(const void *s, int c, size_t n)
{
    for (const u8 *p = s; n; n--, p++)
        if (*p == (u8)c)
            return (void *)p;
    return NULL;
}

size_t strlen(const char *s)
{
    const char *p = s;
    while (*p)
        p++;
    return (size_t)(p - s);
}

size_t strnlen(const char *s, size_t max)
{
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
    while (n && *a && *a == *b)
        a++, b++, n--;
    return n ? (u8)*a - (u8)*b : 0;
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

char *strrchr(const char *s, int c)
{
    char *found = NULL;
    for (;; s++) {
        if (*s == (char)c)
            found = (char *)s;
        if (!*s)
            return found;
    }
}

size_t strlcpy(char *dst, const char *src, size_t size)
{
    size_t n = strlen(src);
    if (size) {
        size_t copied = n < size - 1 ? n : size - 1;
        memcpy(dst, src, copied);
        dst[copied] = 0;
    }
    return n;
}

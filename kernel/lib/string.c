/* kcov: not instrumented: the compiler may call mem* anywhere, in the hooks too */
/*
 * Memory and string functions. Copies use aligned words even between different alignments, because
 * each emulated instruction costs boot time.
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

/* d is aligned, s is not: merges each word from two aligned loads. They may read bytes outside the
 * source, but only in words that hold a byte of it, so they cannot fault. */
static void copy_shifted(u64 *d, const u8 *s, size_t words)
{
    u64 low = ((u64)s & 7) * 8, high = 64 - low;
    const u64 *from = (const u64 *)((u64)s & ~7UL);
    u64 have = *from++;
    for (; words; words--) {
        u64 next = *from++;
        *d++ = have >> low | next << high;
        have = next;
    }
}

static void copy_words(u64 *d, const u64 *s, size_t words)
{
    for (; words >= 4; words -= 4, d += 4, s += 4) {
        u64 a = s[0], b = s[1], e = s[2], f = s[3];
        d[0] = a;
        d[1] = b;
        d[2] = e;
        d[3] = f;
    }
    while (words--)
        *d++ = *s++;
}

void *memcpy(void *dst, const void *src, size_t n)
{
    u8 *d = dst;
    const u8 *s = src;
    if (n >= 16) {
        for (; (u64)d & 7; n--)
            *d++ = *s++;
        size_t words = n / 8;
        if ((u64)s & 7)
            copy_shifted((u64 *)d, s, words);
        else
            copy_words((u64 *)d, (const u64 *)s, words);
        d += words * 8;
        s += words * 8;
        n &= 7;
    }
    while (n--)
        *d++ = *s++;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    u8 *d = dst;
    const u8 *s = src;
    if (d + 16 <= s || d >= s + n) /* forward is safe; close overlaps go by bytes below */
        return memcpy(dst, src, n);
    for (size_t i = 0; d < s && i < n; i++)
        d[i] = s[i];
    for (size_t i = n; d > s && i > 0; i--)
        d[i - 1] = s[i - 1];
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

size_t strlen(const char *s)
{
    const char *p = s;
    while (*p)
        p++;
    return (size_t)(p - s);
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

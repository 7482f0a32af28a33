/* Numbers from text: decimal, 0x hexadecimal, 0 octal. */
#include "klib.h"

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

u64 strtou64(const char *s, const char **end, int base)
{
    u64 value = 0;
    bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    if (hex && (base == 0 || base == 16))
        s += 2, base = 16;
    else if (base == 0)
        base = s[0] == '0' ? 8 : 10;
    for (int d; (d = digit_value(*s)) < base; s++)
        value = value * (u64)base + (u64)d;
    if (end)
        *end = s;
    return value;
}

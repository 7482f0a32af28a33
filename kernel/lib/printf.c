/*
 * kprintf and ksnprintf: the usual conversions without floating point. Output of other harts never
 * splits the text of one kprintf call.
 */
#include "klib.h"

struct sink {
    char *buf;
    size_t size, length; /* length includes characters that did not fit */
};

struct spec {
    bool left, zero, plus, alt;
    int width, precision; /* precision -1 = not given */
    int longs;            /* 0 int, 1 or more: 64 bits */
};

static void put(struct sink *out, char c)
{
    if (out->length < out->size)
        out->buf[out->length] = c;
    out->length++;
}

static void put_padded(struct sink *out, const struct spec *sp, const char *prefix,
                       const char *body, int n, bool zero)
{
    int prefix_len = (int)strlen(prefix);
    int pad = sp->width - n - prefix_len;
    if (!sp->left && !zero)
        for (; pad > 0; pad--)
            put(out, ' ');
    for (; *prefix; prefix++)
        put(out, *prefix);
    if (!sp->left && zero)
        for (; pad > 0; pad--)
            put(out, '0');
    for (int i = 0; i < n; i++)
        put(out, body[i]);
    for (; pad > 0; pad--)
        put(out, ' ');
}

static void put_number(struct sink *out, const struct spec *sp, u64 value, u64 base, bool negative,
                       const char *digits, const char *prefix)
{
    char text[72];
    int n = 0;
    int wanted = sp->precision < 0 ? 1 : sp->precision;
    while (value || n < wanted) {
        if (n == 70)
            break;
        text[70 - ++n] = digits[value % base];
        value /= base;
    }
    put_padded(out, sp,
               negative   ? "-"
               : sp->plus ? "+"
                          : prefix,
               text + 70 - n, n, sp->zero && sp->precision < 0);
}

static const char *parse_spec(const char *f, struct spec *sp, va_list *ap)
{
    *sp = (struct spec){.precision = -1};
    for (;; f++) {
        if (*f == '-')
            sp->left = true;
        else if (*f == '0')
            sp->zero = true;
        else if (*f == '+')
            sp->plus = true;
        else if (*f == '#')
            sp->alt = true;
        else
            break;
    }
    if (*f == '*')
        sp->width = va_arg(*ap, int), f++;
    else
        sp->width = (int)strtou64(f, &f, 10);
    if (*f == '.') {
        f++;
        if (*f == '*')
            sp->precision = va_arg(*ap, int), f++;
        else
            sp->precision = (int)strtou64(f, &f, 10);
    }
    for (; *f == 'l' || *f == 'z' || *f == 'h'; f++)
        sp->longs += *f != 'h';
    return f;
}

static void put_string(struct sink *out, const struct spec *sp, const char *s)
{
    if (!s)
        s = "(null)";
    size_t n = sp->precision >= 0 ? strnlen(s, (size_t)sp->precision) : strlen(s);
    put_padded(out, sp, "", s, (int)n, false);
}

static void convert(struct sink *out, char kind, const struct spec *sp, va_list *ap)
{
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
    u64 value;
    switch (kind) {
    case 'd':
    case 'i': {
        i64 v = sp->longs ? va_arg(*ap, i64) : va_arg(*ap, int);
        put_number(out, sp, v < 0 ? -(u64)v : (u64)v, 10, v < 0, lower, "");
        return;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        value = sp->longs ? va_arg(*ap, u64) : va_arg(*ap, u32);
        put_number(out, sp, value,
                   kind == 'u'   ? 10
                   : kind == 'o' ? 8
                                 : 16,
                   false, kind == 'X' ? upper : lower,
                   sp->alt && value && kind != 'u' ? (kind == 'o' ? "0" : "0x") : "");
        return;
    case 'p':
        value = va_arg(*ap, u64);
        put_number(out, sp, value, 16, false, lower, "0x");
        return;
    case 'c':
        put_padded(out, sp, "", (char[]){(char)va_arg(*ap, int)}, 1, false);
        return;
    case 's':
        put_string(out, sp, va_arg(*ap, const char *));
        return;
    default:
        put(out, kind);
    }
}

int kvsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
    struct sink out = {.buf = buf, .size = size};
    va_list ap;
    __builtin_va_copy(ap, args);
    for (const char *f = fmt; *f; f++) {
        if (*f != '%') {
            put(&out, *f);
            continue;
        }
        struct spec sp;
        f = parse_spec(f + 1, &sp, &ap);
        if (!*f)
            break;
        convert(&out, *f, &sp, &ap);
    }
    va_end(ap);
    if (size)
        buf[MIN(out.length, size - 1)] = 0;
    return (int)out.length;
}

int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = kvsnprintf(buf, size, fmt, ap);
    va_end(ap);
    return n;
}

void kvprintf(const char *fmt, va_list ap)
{
    char line[512];
    int n = kvsnprintf(line, sizeof(line), fmt, ap);
    console_write(line, MIN((size_t)n, sizeof(line) - 1));
}

void kprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvprintf(fmt, ap);
    va_end(ap);
}

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
    bool left, zero;
    int width;
    bool is_long; /* 64 bits */
};

static void put(struct sink *out, char c)
{
    if (out->length < out->size)
        out->buf[out->length] = c;
    out->length++;
}

static void put_padding(struct sink *out, int n, char c)
{
    for (; n > 0; n--)
        put(out, c);
}

static void put_padded(struct sink *out, const struct spec *sp, const char *prefix,
                       const char *body, int n)
{
    int pad = sp->width - n - (int)strlen(prefix);
    if (!sp->left && !sp->zero)
        put_padding(out, pad, ' ');
    for (; *prefix; prefix++)
        put(out, *prefix);
    if (!sp->left && sp->zero)
        put_padding(out, pad, '0');
    for (int i = 0; i < n; i++)
        put(out, body[i]);
    if (sp->left)
        put_padding(out, pad, ' ');
}

static void put_number(struct sink *out, const struct spec *sp, const char *prefix, u64 value,
                       u64 base)
{
    char text[20]; /* 2^64 - 1 in decimal */
    int n = 0;
    do
        text[sizeof(text) - ++n] = "0123456789abcdef"[value % base];
    while (value /= base);
    put_padded(out, sp, prefix, text + sizeof(text) - n, n);
}

static const char *parse_spec(const char *f, struct spec *sp)
{
    *sp = (struct spec){0};
    for (; *f == '-' || *f == '0'; f++)
        *(*f == '-' ? &sp->left : &sp->zero) = true;
    sp->width = (int)strtou64(f, &f, 10);
    for (; *f == 'l' || *f == 'z'; f++)
        sp->is_long = true;
    return f;
}

static void convert(struct sink *out, char kind, const struct spec *sp, va_list *ap)
{
    i64 number;
    const char *text;
    switch (kind) {
    case 'd':
        number = sp->is_long ? va_arg(*ap, i64) : va_arg(*ap, int);
        put_number(out, sp, number < 0 ? "-" : "", number < 0 ? -(u64)number : (u64)number, 10);
        return;
    case 'u':
    case 'x':
        put_number(out, sp, "", sp->is_long ? va_arg(*ap, u64) : va_arg(*ap, u32),
                   kind == 'u' ? 10 : 16);
        return;
    case 'p':
        put_number(out, sp, "0x", va_arg(*ap, u64), 16);
        return;
    case 'c':
        put_padded(out, sp, "", (char[]){(char)va_arg(*ap, int)}, 1);
        return;
    case 's':
        text = va_arg(*ap, const char *);
        text = text ? text : "(null)";
        put_padded(out, sp, "", text, (int)strlen(text));
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
        f = parse_spec(f + 1, &sp);
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
    size_t n = (size_t)kvsnprintf(line, sizeof(line), fmt, ap);
    if (n >= sizeof(line)) {
        n = sizeof(line) - 1;
        memcpy(line + n - 4, "...\n", 4);
    }
    console_write(line, n);
}

void kprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvprintf(fmt, ap);
    va_end(ap);
}

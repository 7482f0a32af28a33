/* kcov: not instrumented: the checker itself */
/*
 * Undefined-behaviour sanitizer (CONFIG_UBSAN): clang calls one handler per kind with a record of
 * the source location. A report has the format of Linux's; the kernel goes on afterwards
 * unless "panic_on_warn" is given. With CONFIG_UBSAN_TRAP there are no calls, only illegal
 * instructions.
 */
#include "klib.h"
#include "opt/bootinfo/flag.h"
#include "proc.h"

struct location {
    const char *file;
    u32 line, column;
};

struct type_descriptor {
    u16 kind; /* 0 integer, 1 float */
    u16 info; /* bit 0 signed, bits 15:1 log2 of the width */
    char name[];
};

static void report(struct location *where, const char *kind, const char *fmt, ...)
{
    va_list ap;
    if (!where->file || panicking)
        return;
    kprintf("UBSAN: %s in %s:%u:%u\n", kind, where->file, where->line, where->column);
    if (fmt) {
        va_start(ap, fmt);
        kvprintf(fmt, ap);
        va_end(ap);
        kprintf("\n");
    }
    where->file = NULL; /* report each location once */
    backtrace((u64)__builtin_frame_address(0), 0);
    if (cmdline_flag("panic_on_warn"))
        panic("UBSAN: %s", kind);
}

static i64 value_of(const struct type_descriptor *t, u64 raw)
{
    u32 bits = 1u << (t->info >> 1);
    if (bits >= 64 || t->kind != 0)
        return (i64)raw;
    return t->info & 1 ? (i64)(raw << (64 - bits)) >> (64 - bits)
                       : (i64)(raw & ((1UL << bits) - 1));
}

struct overflow {
    struct location where;
    struct type_descriptor *type;
};

#define OVERFLOW_HANDLER(op, sign)                                                                 \
    void __ubsan_handle_##op##_overflow(struct overflow *d, u64 a, u64 b);                         \
    void __ubsan_handle_##op##_overflow(struct overflow *d, u64 a, u64 b)                          \
    {                                                                                              \
        report(&d->where, "signed-integer-overflow",                                               \
               "%ld " sign " %ld cannot be represented in type %s", value_of(d->type, a),          \
               value_of(d->type, b), d->type->name);                                               \
    }
OVERFLOW_HANDLER(add, "+")
OVERFLOW_HANDLER(sub, "-")
OVERFLOW_HANDLER(mul, "*")
OVERFLOW_HANDLER(divrem, "/")

void __ubsan_handle_negate_overflow(struct overflow *d, u64 a);
void __ubsan_handle_negate_overflow(struct overflow *d, u64 a)
{
    report(&d->where, "negation-overflow", "negation of %ld cannot be represented in type %s",
           value_of(d->type, a), d->type->name);
}

struct shift {
    struct location where;
    struct type_descriptor *left, *right;
};

void __ubsan_handle_shift_out_of_bounds(struct shift *d, u64 a, u64 b);
void __ubsan_handle_shift_out_of_bounds(struct shift *d, u64 a, u64 b)
{
    report(&d->where, "shift-out-of-bounds", "shift of %ld by %ld in type %s", value_of(d->left, a),
           value_of(d->right, b), d->left->name);
}

struct bounds {
    struct location where;
    struct type_descriptor *array, *index;
};

void __ubsan_handle_out_of_bounds(struct bounds *d, u64 index);
void __ubsan_handle_out_of_bounds(struct bounds *d, u64 index)
{
    report(&d->where, "array-index-out-of-bounds", "index %ld is out of range for type %s",
           value_of(d->index, index), d->array->name);
}

struct mismatch {
    struct location where;
    struct type_descriptor *type;
    u8 log_alignment, kind;
};

void __ubsan_handle_type_mismatch_v1(struct mismatch *d, u64 address);
void __ubsan_handle_type_mismatch_v1(struct mismatch *d, u64 address)
{
    u64 alignment = 1UL << d->log_alignment;
    if (!address)
        report(&d->where, "null-ptr-deref", "access through a null pointer of type %s",
               d->type->name);
    else if (address & (alignment - 1))
        report(&d->where, "misaligned-access", "address %lx for type %s needs alignment %lu",
               address, d->type->name, alignment);
    else
        report(&d->where, "object-size-mismatch", "address %lx is too small for type %s", address,
               d->type->name);
}

struct plain {
    struct location where;
};

void __ubsan_handle_builtin_unreachable(struct plain *d);
void __ubsan_handle_builtin_unreachable(struct plain *d)
{
    report(&d->where, "unreachable", NULL);
    panic("unreachable code was reached");
}

void __ubsan_handle_missing_return(struct plain *d);
void __ubsan_handle_missing_return(struct plain *d)
{
    report(&d->where, "missing-return", NULL);
    panic("a function ended without its value");
}

void __ubsan_handle_vla_bound_not_positive(struct overflow *d, u64 bound);
void __ubsan_handle_vla_bound_not_positive(struct overflow *d, u64 bound)
{
    report(&d->where, "vla-bound", "bound %ld", value_of(d->type, bound));
}

void __ubsan_handle_load_invalid_value(struct overflow *d, u64 value);
void __ubsan_handle_load_invalid_value(struct overflow *d, u64 value)
{
    report(&d->where, "invalid-load", "%ld is not a value of type %s", value_of(d->type, value),
           d->type->name);
}

void __ubsan_handle_pointer_overflow(struct plain *d, u64 base, u64 result);
void __ubsan_handle_pointer_overflow(struct plain *d, u64 base, u64 result)
{
    report(&d->where, "pointer-overflow", "%lx became %lx", base, result);
}

void __ubsan_handle_invalid_builtin(struct plain *d);
void __ubsan_handle_invalid_builtin(struct plain *d)
{
    report(&d->where, "invalid-builtin", "count of zeros in zero");
}

void __ubsan_handle_nonnull_arg(struct plain *d);
void __ubsan_handle_nonnull_arg(struct plain *d)
{
    report(&d->where, "nonnull-argument", NULL);
}

void __ubsan_handle_nonnull_return_v1(struct plain *unused, struct location *where);
void __ubsan_handle_nonnull_return_v1(struct plain *unused, struct location *where)
{
    (void)unused;
    report(where, "nonnull-return", NULL);
}

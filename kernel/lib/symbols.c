/* kcov: not instrumented: used by panic, which must not change what was recorded */
/*
 * Names of kernel functions. The table is generated from the first link and exists only in the
 * second one, hence the weak references: addresses are sorted, each row is (low 32 bits of the
 * address, offset of the name); all text lies within one 4 GiB window.
 */
#include "types.h"
#include "klib.h"
#include "memlayout.h"

struct symbol {
    u32 address, name;
};

extern const u64 symtab_count __weak;
extern const struct symbol symtab_start[] __weak;
extern const char symtab_text[] __weak;
extern char __text_start[], __text_end[];

bool is_kernel_text(u64 pc)
{
    return pc >= (u64)__text_start && pc < (u64)__text_end;
}

const char *symbol_at(u64 pc, u64 *start)
{
    if (!&symtab_count || !is_kernel_text(pc))
        return NULL;
    u64 low = 0, high = symtab_count;
    while (high - low > 1) {
        u64 middle = (low + high) / 2;
        if (symtab_start[middle].address <= (u32)pc)
            low = middle;
        else
            high = middle;
    }
    if (symtab_start[low].address > (u32)pc)
        return NULL;
    if (start)
        *start = LINEAR_BASE | symtab_start[low].address;
    return &symtab_text[symtab_start[low].name];
}

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
    const struct symbol *found = NULL;
    u64 count = &symtab_count && is_kernel_text(pc) ? symtab_count : 0;
    for (u64 i = 0; i < count && symtab_start[i].address <= (u32)pc; i++)
        found = &symtab_start[i];
    if (!found)
        return NULL;
    *start = LINEAR_BASE | found->address;
    return &symtab_text[found->name];
}

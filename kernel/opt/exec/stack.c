/*
 * The first stack of a program (System V ABI chapter 3, RISC-V ELF psABI): from the stack pointer
 * up: argc, argv pointers, NULL, envp pointers, NULL, auxiliary vector; higher, the strings.
 */
#include "abi/errno.h"
#include "mm/internal.h"
#include "alloc.h"
#include "klib.h"
#include "proc.h"
#include "opt/exec/exec.h"
#include "opt/vmaccess/vmaccess.h"

/* AT_HWCAP: one bit per single-letter extension that user programs may use. */
#define HWCAP_BIT(letter) (1UL << ((letter) - 'A'))
#define HWCAP                                                                                      \
    (HWCAP_BIT('I') | HWCAP_BIT('M') | HWCAP_BIT('A') | HWCAP_BIT('F') | HWCAP_BIT('D') |          \
     HWCAP_BIT('C'))

struct table {
    u64 *words;
    size_t n;
};

static void push(struct table *t, u64 word)
{
    t->words[t->n++] = word;
}

static void push_aux(struct table *t, u64 type, u64 value)
{
    push(t, type);
    push(t, value);
}

/* Pushes pointers to count strings, the first at *offset, which advances behind the last. */
static void push_strings(struct table *t, const char *bytes, size_t *offset, u32 count, va_t base)
{
    for (u32 i = 0; i < count; i++) {
        push(t, base + *offset);
        *offset += strlen(bytes + *offset) + 1;
    }
    push(t, 0);
}

static void push_auxv(struct table *t, const struct image *program, u64 interp_base, va_t random,
                      va_t execfn)
{
    push_aux(t, AT_PHDR, program->phdr_va);
    push_aux(t, AT_PHENT, sizeof(struct elf_phdr));
    push_aux(t, AT_PHNUM, program->header.phnum);
    push_aux(t, AT_PAGESZ, PAGE_SIZE);
    push_aux(t, AT_BASE, interp_base);
    push_aux(t, AT_FLAGS, 0);
    push_aux(t, AT_ENTRY, program->entry);
    push_aux(t, AT_UID, curproc->uid);
    push_aux(t, AT_EUID, curproc->euid);
    push_aux(t, AT_GID, curproc->gid);
    push_aux(t, AT_EGID, curproc->egid);
    push_aux(t, AT_HWCAP, HWCAP);
    push_aux(t, AT_CLKTCK, 100);
    push_aux(t, AT_SECURE, 0);
    push_aux(t, AT_RANDOM, random);
    push_aux(t, AT_EXECFN, execfn);
    push_aux(t, AT_NULL, 0);
}

int stack_build(struct vm *vm, const struct exec_strings *strings, const struct image *program,
                u64 interp_base, const char *path, va_t *sp)
{
    u64 limit = MIN(rlimit_get(3), USER_STACK_MAX);
    limit = MAX(ALIGN_DOWN(limit, PAGE_SIZE), ARG_BYTES_MAX + 16 * PAGE_SIZE);
    long r = vm_map_stack(vm, USER_STACK_TOP, limit);
    if (r < 0)
        return (int)r;
    u8 random[16];
    random_bytes(random, sizeof(random));
    va_t execfn = USER_STACK_TOP - 8 - ALIGN_UP(strlen(path) + 1, 8);
    va_t text = ALIGN_DOWN(execfn - strings->used, 16);
    va_t random_va = text - sizeof(random);
    size_t words = 1 + strings->argc + 1 + strings->envc + 1 + 2 * 17; /* pairs of push_auxv */
    struct table t = {.words = kmalloc(words * 8)};
    if (!t.words)
        return -ENOMEM;
    size_t offset = 0;
    push(&t, strings->argc);
    push_strings(&t, strings->bytes, &offset, strings->argc, text);
    vm->arg_start = text;
    vm->arg_end = vm->env_start = text + offset;
    push_strings(&t, strings->bytes, &offset, strings->envc, text);
    vm->env_end = text + offset;
    push_auxv(&t, program, interp_base, random_va, execfn);
    *sp = ALIGN_DOWN(random_va - t.n * 8, 16);
    r = vm_write(vm, *sp, t.words, t.n * 8);
    kfree(t.words);
    if (r == 0)
        r = vm_write(vm, random_va, random, sizeof(random));
    if (r == 0)
        r = vm_write(vm, text, strings->bytes, strings->used);
    if (r == 0)
        r = vm_write(vm, execfn, path, strlen(path) + 1);
    return r ? -ENOMEM : 0;
}

void vm_clone_words(struct vm *to, const struct vm *from)
{
    to->arg_start = from->arg_start, to->arg_end = from->arg_end;
    to->env_start = from->env_start, to->env_end = from->env_end;
}

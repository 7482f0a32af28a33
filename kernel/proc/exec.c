/*
 * exec.c: process 1 begins with the program that init= names, in a kernel without the option EXEC.
 * Segments become private mappings of the file, read on demand. Only programs at a fixed address
 * are known. An error ends the machine, so nothing is taken back.
 */
#include "abi/errno.h"
#include "abi/mman.h"
#include "alloc.h"
#include "file.h"
#include "fs.h"
#include "irq.h"
#include "klib.h"
#include "proc.h"
#include "proc/elf.h"
#include "riscv.h"
#include "vm.h"

#ifndef CONFIG_EXEC

struct program {
    struct file *file;
    struct elf_header header;
    va_t headers; /* where the program finds its program headers */
};

static int read_at(struct file *file, void *to, size_t n, u64 offset)
{
    i64 got = file_read_at(file, to, n, (i64)offset);
    return got == (i64)n ? 0 : got < 0 ? (int)got : -ENOEXEC;
}

static int open_program(const char *path, struct program *program)
{
    const struct elf_header *h = &program->header;
    int error = vfs_open(path, O_RDONLY | O_REGULAR, 0, &program->file);
    if (!error)
        error = read_at(program->file, &program->header, sizeof(*h), 0);
    if (error)
        return error;
    bool is_ours = h->magic == ELF_MAGIC && h->class == ELFCLASS64 && h->data == ELFDATA2LSB &&
                   h->type == ET_EXEC && h->machine == EM_RISCV &&
                   h->phentsize == sizeof(struct elf_phdr);
    return is_ours ? 0 : -ENOEXEC;
}

/* Maps the part in the file, clears the rest of its last page, then maps pages of zeros. */
static int map_segment(struct program *program, struct vm *vm, const struct elf_phdr *ph)
{
    va_t file_end = ph->vaddr + ph->filesz, end = ph->vaddr + ph->memsz;
    va_t page = ALIGN_DOWN(ph->vaddr, PAGE_SIZE), zeros = ALIGN_UP(file_end, PAGE_SIZE);
    u32 prot = (ph->flags & PF_R ? PROT_READ : 0) | (ph->flags & PF_W ? PROT_WRITE : 0) |
               (ph->flags & PF_X ? PROT_EXEC : 0);
    long at = 0;
    if (ph->filesz > ph->memsz || ph->memsz >= USER_TOP || end >= USER_MMAP_TOP ||
        (ph->vaddr ^ ph->offset) & PAGE_MASK)
        return -ENOEXEC;
    if (ph->filesz)
        at = vm_mmap(vm, page, zeros - page, prot, MAP_PRIVATE | MAP_FIXED, program->file,
                     ALIGN_DOWN(ph->offset, PAGE_SIZE));
    else
        zeros = page;
    if (at >= 0 && zeros > file_end && end > file_end && prot & PROT_WRITE)
        at = user_zero(file_end, MIN(end, zeros) - file_end);
    if (at >= 0 && end > zeros)
        at =
            vm_mmap(vm, zeros, end - zeros, prot, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0);
    u64 phoff = program->header.phoff;
    if (phoff >= ph->offset && phoff < ph->offset + ph->filesz)
        program->headers = ph->vaddr + phoff - ph->offset;
    vm->brk_start = vm->brk = MAX(vm->brk, ALIGN_UP(end, PAGE_SIZE));
    return at < 0 ? (int)at : 0;
}

static int map_program(struct program *program, struct vm *vm)
{
    int error = 0;
    for (u64 i = 0; !error && i < program->header.phnum; i++) {
        struct elf_phdr ph;
        error = read_at(program->file, &ph, sizeof(ph), program->header.phoff + i * sizeof(ph));
        if (!error && ph.type == PT_INTERP)
            error = -ENOEXEC;
        if (!error && ph.type == PT_LOAD && ph.memsz)
            error = map_segment(program, vm, &ph);
    }
    return error;
}

struct stack {
    va_t sp;
    long error; /* of the first write that failed */
};

static va_t push(struct stack *s, const void *bytes, size_t n)
{
    s->sp -= n;
    if (!s->error)
        s->error = copyout(s->sp, bytes, n);
    return s->sp;
}

/* Stores pointers to the strings at words, and a NULL; returns the word behind it. */
static u64 *push_strings(struct stack *s, char *const *strings, u64 *words)
{
    for (; *strings; strings++)
        *words++ = push(s, *strings, strlen(*strings) + 1);
    *words++ = 0;
    return words;
}

/*
 * The first stack (System V ABI chapter 3, RISC-V ELF psABI): from the stack pointer up: argc, argv
 * pointers, NULL, envp pointers, NULL, auxiliary vector; higher, the strings.
 */
static long build_stack(const struct program *program, char *const *argv, char *const *envp,
                        va_t *sp)
{
    struct stack s = {USER_STACK_TOP, vm_map_stack(curproc->vm, USER_STACK_TOP, USER_STACK_MAX)};
    u64 *words = kmalloc(2 * PAGE_SIZE); /* proc/init.c gives at most 272 words */
    u8 random[16];
    if (!words)
        return -ENOMEM;
    random_bytes(random, sizeof(random));
    u64 *behind_argv = push_strings(&s, argv, words + 1);
    u64 *behind = push_strings(&s, envp, behind_argv);
    words[0] = (u64)(behind_argv - words) - 2;
    const u64 aux[] = {
        AT_PHDR,   program->headers,
        AT_PHENT,  sizeof(struct elf_phdr),
        AT_PHNUM,  program->header.phnum,
        AT_PAGESZ, PAGE_SIZE,
        AT_ENTRY,  program->header.entry,
        AT_RANDOM, push(&s, random, sizeof(random)),
        AT_NULL,   0,
    };
    memcpy(behind, aux, sizeof(aux));
    size_t bytes = (size_t)(behind - words) * sizeof(u64) + sizeof(aux);
    s.sp = ALIGN_DOWN(s.sp - bytes, 16) + bytes;
    *sp = push(&s, words, bytes);
    kfree(words);
    return s.error;
}

int exec_load(const char *path, char *const *argv, char *const *envp)
{
    struct program program = {0};
    struct vm *vm = vm_new();
    struct trapframe *tf = current->tf;
    long error = vm ? open_program(path, &program) : -ENOMEM;
    if (error)
        return (int)error;
    curproc->vm = vm;
    irq_push_off();
    vm_activate(vm); /* for copyout to the new program */
    irq_pop_off();
    error = map_program(&program, vm);
    if (!error)
        error = build_stack(&program, argv, envp, &tf->sp);
    if (error)
        return (int)error;
    const char *base = strrchr(path, '/');
    strlcpy(curproc->comm, base ? base + 1 : path, sizeof(curproc->comm));
    strlcpy(current->name, curproc->comm, sizeof(current->name));
    curproc->exe = program.file;
    tf->epc = program.header.entry;
    tf->status = SSTATUS_SPIE | SSTATUS_FS_INIT;
    return 0;
}

#endif

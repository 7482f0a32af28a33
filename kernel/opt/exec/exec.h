/*
 * exec.h: exec in four files: loading images (elf.c), the first stack (stack.c), the way into a
 * program (exec.c), the call (execve.c).
 */
#pragma once
#include "proc/elf.h"
#include "types.h"
#include "vm.h"
#include "optional.h"

/* Auxiliary vector; proc/elf.h has the others */
#define AT_BASE   7
#define AT_FLAGS  8
#define AT_UID    11
#define AT_EUID   12
#define AT_GID    13
#define AT_EGID   14
#define AT_HWCAP  16
#define AT_CLKTCK 17
#define AT_SECURE 23
#define AT_EXECFN 31

#define ET_DYN        3
#define USER_PIE_BASE 0x1000000000UL

#define ARG_BYTES_MAX (128UL << 10)
#define ARGS_MAX      4096

/* argv and envp strings, packed one after another, each with its NUL. */
struct exec_strings {
    char *bytes;
    size_t used;
    u32 argc, envc;
};

struct image {
    struct file *file;
    struct elf_header header;
    struct elf_phdr *phdrs;
    u64 base;  /* added to addresses of ET_DYN */
    u64 entry; /* of this image */
    u64 phdr_va;
    u64 end; /* first address after the last segment: where brk starts */
    char interp[256];
};

int image_read(struct file *file, struct image *img); /* headers only; -ENOEXEC, -EIO */
int image_map(struct image *img, struct vm *vm, u64 base);
void image_drop(struct image *img);

/* Builds argc, argv, envp, auxv and strings; *sp is the initial stack pointer. */
int stack_build(struct vm *vm, const struct exec_strings *strings, const struct image *program,
                u64 interp_base, const char *path, va_t *sp);

/* exec.c */
int find_image(const char *path, struct image *img);
int open_program(const char *path, struct file **out);   /* one that may be executed */
int exec_with(const char *path, struct exec_strings *s); /* the caller becomes this program */
/* opt/exec: a process that runs a program already. */
struct exec_spares { /* memory for private copies of what CLONE_FILES and CLONE_SIGHAND share */
    struct files *files;
    struct sigactions *sigacts;
};
/* 0: the caller is the only thread. */
OPTIONAL(CONFIG_EXEC, int, exec_prepare, (struct proc *p, struct exec_spares *mine), 0)
OPTIONAL(CONFIG_EXEC, void, exec_give_up, (struct exec_spares *mine))
OPTIONAL(CONFIG_EXEC, void, exec_leave_old, (struct proc *p, struct exec_spares *mine))
/* opt/futexops: its robust mutexes are gone. */
OPTIONAL(CONFIG_FUTEX_OPS, void, robust_forget, (struct thread *t))
long exec_user(const char *path, va_t argv, va_t envp);
/* opt/scripts */
/* Reads the name of the dynamic loader. */
OPTIONAL(CONFIG_SCRIPTS, int, read_interp, (struct image *img, const struct elf_phdr *ph), -ENOEXEC)
/* Maps it, if the program asks for one; *entry is where execution starts. */
OPTIONAL(CONFIG_SCRIPTS, int, map_interp,
         (const struct image *program, struct vm *vm, u64 *base, u64 *entry), 0)
/* The file of img is no program: if it is a script, path and img become its interpreter's. */
OPTIONAL(CONFIG_SCRIPTS, int, script_follow,
         (char *path, size_t path_size, struct exec_strings *s, struct image *img), -ENOEXEC)

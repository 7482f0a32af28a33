/* ELF64, as far as exec needs it (System V ABI, chapters 4 and 5). */
#pragma once
#include "types.h"

#define ELF_MAGIC   0x464c457fU
#define ELFCLASS64  2
#define ELFDATA2LSB 1
#define ET_EXEC     2
#define EM_RISCV    243
#define PT_LOAD     1
#define PT_INTERP   3
#define PF_X        1
#define PF_W        2
#define PF_R        4

struct elf_header {
    u32 magic;
    u8 class, data, version, abi, pad[8];
    u16 type, machine;
    u32 version2;
    u64 entry, phoff, shoff;
    u32 flags;
    u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_phdr {
    u32 type, flags;
    u64 offset, vaddr, paddr, filesz, memsz, align;
};

/* Auxiliary vector */
#define AT_NULL   0
#define AT_PHDR   3
#define AT_PHENT  4
#define AT_PHNUM  5
#define AT_PAGESZ 6
#define AT_ENTRY  9
#define AT_RANDOM 25

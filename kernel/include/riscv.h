/*
 * Control and status registers, instructions and encodings of the RISC-V supervisor level, under
 * their manual names (Priv chapter 10; docs/reading-guide.md names the edition).
 */
#pragma once
#include "types.h"

/* sstatus (Priv §10.1.1) */
#define SSTATUS_SIE      (1UL << 1)  /* interrupts enabled in S-mode */
#define SSTATUS_SPIE     (1UL << 5)  /* SIE before the trap */
#define SSTATUS_SPP      (1UL << 8)  /* privilege before the trap: 1 = S, 0 = U */
#define SSTATUS_FS       (3UL << 13) /* floating-point unit state */
#define SSTATUS_FS_INIT  (1UL << 13)
#define SSTATUS_FS_CLEAN (2UL << 13)
#define SSTATUS_FS_DIRTY (3UL << 13)
#define SSTATUS_SUM      (1UL << 18) /* S-mode may access user pages */

/* sie, sip (Priv §10.1.3) */
#define SIE_SSIE (1UL << 1) /* software: IPI from another hart */
#define SIE_STIE (1UL << 5) /* timer */
#define SIE_SEIE (1UL << 9) /* external: PLIC */

/* scause (Priv §10.1.8) */
#define SCAUSE_INTERRUPT     (1UL << 63)
#define IRQ_S_SOFT           1
#define IRQ_S_TIMER          5
#define IRQ_S_EXTERNAL       9
#define EXC_INSN_MISALIGNED  0
#define EXC_INSN_ACCESS      1
#define EXC_ILLEGAL_INSN     2
#define EXC_BREAKPOINT       3
#define EXC_LOAD_MISALIGNED  4
#define EXC_LOAD_ACCESS      5
#define EXC_STORE_MISALIGNED 6
#define EXC_STORE_ACCESS     7
#define EXC_ECALL_U          8
#define EXC_INSN_PAGE_FAULT  12
#define EXC_LOAD_PAGE_FAULT  13
#define EXC_STORE_PAGE_FAULT 15

/* satp (Priv §10.1.11) */
#define SATP_MODE_SV39 (8UL << 60)
#define MAKE_SATP(pa)  (SATP_MODE_SV39 | ((u64)(pa) >> 12))

/* Sv39 page table entries (Priv §10.4.1) */
#define PTE_V                 (1UL << 0)
#define PTE_R                 (1UL << 1)
#define PTE_W                 (1UL << 2)
#define PTE_X                 (1UL << 3)
#define PTE_U                 (1UL << 4)
#define PTE_G                 (1UL << 5)
#define PTE_A                 (1UL << 6)
#define PTE_D                 (1UL << 7)
#define PTE_SOFT_PFN          (1UL << 9) /* software bit: device memory without struct page */
#define PTE_PA(pte)           (((pte) >> 10) << 12)
#define PA_PTE(pa)            (((u64)(pa) >> 12) << 10)
#define SV39_INDEX(va, level) (((u64)(va) >> (12 + 9 * (level))) & 511)

/* Control and status registers, by name. */
#define csr_read(csr)                                                                              \
    ({                                                                                             \
        u64 csr_value;                                                                             \
        __asm__ volatile("csrr %0, " #csr : "=r"(csr_value)::"memory");                            \
        csr_value;                                                                                 \
    })
#define csr_write(csr, x)    __asm__ volatile("csrw " #csr ", %0" ::"r"(x) : "memory")
#define csr_set(csr, bits)   __asm__ volatile("csrs " #csr ", %0" ::"r"(bits) : "memory")
#define csr_clear(csr, bits) __asm__ volatile("csrc " #csr ", %0" ::"r"(bits) : "memory")

/* Real-time counter, in timebase ticks (10 MHz on this board). */
static inline u64 read_time(void)
{
    u64 x;
    __asm__ volatile("rdtime %0" : "=r"(x));
    return x;
}

static inline void irq_enable(void)
{
    __asm__ volatile("csrsi sstatus, 2" ::: "memory");
}

static inline void irq_disable(void)
{
    __asm__ volatile("csrci sstatus, 2" ::: "memory");
}

static inline bool irq_enabled(void)
{
    return csr_read(sstatus) & SSTATUS_SIE;
}

static inline void wfi(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

static inline void sfence_vma_all(void)
{
    __asm__ volatile("sfence.vma" ::: "memory");
}

static inline void sfence_vma(u64 va)
{
    __asm__ volatile("sfence.vma %0" ::"r"(va) : "memory");
}

static inline void fence_i(void)
{
    __asm__ volatile("fence.i" ::: "memory");
}

#define mb()      __asm__ volatile("fence rw, rw" ::: "memory")
#define io_mb()   __asm__ volatile("fence iorw, iorw" ::: "memory")
#define barrier() __asm__ volatile("" ::: "memory")

/*
 * Device registers: accesses of one exact width, ordered against other device accesses. If no
 * device answers (an access fault), a read gives all ones and a write has no effect (trap/trap.c).
 */
#define EX_ENTRY(insn, fixup)                                                                      \
    ".pushsection .ex_table, \"a\"\n.balign 8\n.quad " insn ", " fixup "\n.popsection\n"
#define MMIO_ACCESSORS(bits, load, store)                                                          \
    static inline u##bits mmio_read##bits(const volatile void *addr)                               \
    {                                                                                              \
        u64 v;                                                                                     \
        __asm__ volatile("li %0, -1\n1: " load " %0, %1\n2: fence i, ir\n" EX_ENTRY("1b", "2b")    \
                         : "=&r"(v)                                                                \
                         : "m"(*(const volatile u##bits *)addr)                                    \
                         : "memory");                                                              \
        return (u##bits)v;                                                                         \
    }                                                                                              \
    static inline void mmio_write##bits(volatile void *addr, u##bits v)                            \
    {                                                                                              \
        __asm__ volatile("fence w, o\n1: " store " %z1, %0\n2:\n" EX_ENTRY("1b", "2b")             \
                         : "=m"(*(volatile u##bits *)addr)                                         \
                         : "rJ"((u64)v)                                                            \
                         : "memory");                                                              \
    }
MMIO_ACCESSORS(8, "lbu", "sb")
MMIO_ACCESSORS(16, "lhu", "sh")
MMIO_ACCESSORS(32, "lwu", "sw")
MMIO_ACCESSORS(64, "ld", "sd")

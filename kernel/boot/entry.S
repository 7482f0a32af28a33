/*
 * First instructions of every hart. The firmware enters in S-mode with translation off, a0 = hartid
 * and a1 = device tree. A temporary root table maps RAM both at its physical address and in the
 * linear map; kvm_init() replaces it.
 *
 * The first hart boots. smp_start() starts each later one through SBI HSM and leaves its idle
 * thread in secondary_idle; the hart ignores a1. A later hart may arrive at _start instead of
 * secondary_start: OpenSBI before 1.2 marks a hart as startable before it writes the address, and a
 * hart that is awake at that moment takes the boot hart's address. boot_taken tells it apart.
 */
#include "asm.h"
#include "memlayout.h"

#define PTE_VRWXGAD 0xef

.section .text.boot, "ax"
.globl _start
_start:
    csrw sie, zero
    lla t0, boot_taken
    li t1, 1
    amoswap.w.aq t1, t1, (t0)
    bnez t1, secondary
    mv s0, a0
    mv s1, a1
    lla t0, __bss_start
    lla t1, __bss_end
1:  sd zero, 0(t0)
    addi t0, t0, 8
    bltu t0, t1, 1b
    lla t0, boot_root
    li t1, (0x80000000 >> 2) | PTE_VRWXGAD
    sd t1, (2 * 8)(t0) /* RAM at its physical address, for the next few instructions */
    li t2, 2048
    add t2, t2, t0
    addi t2, t2, 2032 /* entry 510: 0xffffffff80000000 */
    sd t1, 0(t2)
    li t1, PTE_VRWXGAD
    sd t1, -16(t2)
    li t1, (0x40000000 >> 2) | PTE_VRWXGAD
    sd t1, -8(t2)
    li t1, (0xc0000000 >> 2) | PTE_VRWXGAD
    sd t1, 8(t2)
    call go_high
    lla tp, boot_thread
    lla sp, boot_stack_top
    csrw sscratch, zero
    mv a0, s0
    mv a1, s1
    li s0, 0 /* end of the frame pointer chain */
    call kmain
    unimp

/* Entry of the other harts. */
.globl secondary_start
secondary_start:
    csrw sie, zero
secondary:
    call go_high
    ld tp, secondary_idle
    ld t1, kernel_root_satp
    csrw satp, t1
    sfence.vma
    csrw sscratch, zero
    ld sp, THREAD_KERNEL_SP(tp)
    li s0, 0
    call secondary_main
    unimp

/* Turn translation on with boot_root and return to the caller's linear-map address. */
go_high:
    lla t0, boot_root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    li t1, LINEAR_BASE
    add ra, ra, t1
    sfence.vma
    csrw satp, t0
    sfence.vma
    ret

.section .data, "aw" /* not .bss, which the first hart clears after it has set this */
.balign 4
boot_taken:
    .word 0

.section .bss.page_aligned, "aw", @nobits
.balign 4096
.globl boot_root
boot_root:
    .skip 4096
.balign KSTACK_SLOT
    .skip KSTACK_SIZE
.globl boot_stack
boot_stack:
    .skip KSTACK_SIZE
.globl boot_stack_top
boot_stack_top:

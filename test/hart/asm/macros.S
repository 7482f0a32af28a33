# Shared by the programs in this directory. Each runs in M-mode from 0x80000000 with nothing below it, checks itself and
# ends through the test finisher: 0 when all is well, else the number of the failing case. They run on this emulator and
# on `qemu-system-riscv64 -M virt -bios none`.
#
# Reserved registers: gp = case number; s1 = where the next trap resumes in M-mode (0: a trap is a failure);
# s2..s5 = mcause, mtval, mepc, mstatus of the last trap; s6 and t6 = scratch of the macros.

.equ FINISHER, 0x100000
.equ CLINT, 0x2000000
.equ MTIMECMP, 0x4000
.equ MTIME, 0xbff8
.equ HOLE, 0x0a000000

.equ MSTATUS_SIE, 1 << 1
.equ MSTATUS_MIE, 1 << 3
.equ MSTATUS_SPIE, 1 << 5
.equ MSTATUS_MPIE, 1 << 7
.equ MSTATUS_SPP, 1 << 8
.equ MSTATUS_MPP, 3 << 11
.equ MSTATUS_FS, 3 << 13
.equ MSTATUS_MPRV, 1 << 17
.equ MSTATUS_SUM, 1 << 18
.equ MSTATUS_MXR, 1 << 19
.equ MSTATUS_TVM, 1 << 20
.equ MSTATUS_TW, 1 << 21
.equ MSTATUS_TSR, 1 << 22

.equ PTE_V, 1
.equ PTE_R, 2
.equ PTE_W, 4
.equ PTE_X, 8
.equ PTE_U, 16
.equ PTE_A, 64
.equ PTE_D, 128

.option norvc
.option norelax

.section .text
.globl _start
_start:
    la t0, trap_entry
    csrw mtvec, t0
    li gp, 0
    li s1, 0
    # S and U may access everything until a program says otherwise.
    li t0, -1
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    j main

.balign 4
trap_entry:
    csrr s2, mcause
    csrr s3, mtval
    csrr s4, mepc
    csrr s5, mstatus
    beqz s1, fail_in_m
    csrw mepc, s1
    li s1, 0
    li t6, MSTATUS_MPP
    csrs mstatus, t6
    li t6, MSTATUS_MPIE
    csrc mstatus, t6
    mret

# From any mode: below M the CSR read traps, and trap_entry finds s1 = 0.
fail:
    li s1, 0
    csrr t0, mhartid
fail_in_m:
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    slli t1, gp, 16
    li t2, 0x3333
    or t1, t1, t2
    li t0, FINISHER
    sw t1, 0(t0)
    j .

pass:
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    li t0, FINISHER
    li t1, 0x5555
    sw t1, 0(t0)
    j .

.macro CASE number
    li gp, \number
.endm

# The register must hold the value.
.macro CHECK register, value:vararg
    li t6, \value
    beq \register, t6, 77f
    j fail
77:
.endm

.macro SAME a, b
    beq \a, \b, 77f
    j fail
77:
.endm

# The instruction must trap with this cause, mepc at it; afterwards in M-mode.
.macro TRAPS cause, instruction:vararg
    la s1, 79f
    la s6, 78f
78: \instruction
    j fail
79: CHECK s2, \cause
    SAME s4, s6
.endm

# The same with mtval equal to a register.
.macro TRAPS_AT cause, tval, instruction:vararg
    TRAPS \cause, \instruction
    SAME s3, \tval
.endm

# Goes on in mode 0 = U, 1 = S, at the same address.
.macro ENTER mode
    li t6, MSTATUS_MPP
    csrc mstatus, t6
    li t6, \mode << 11
    csrs mstatus, t6
    la t6, 77f
    csrw mepc, t6
    mret
77:
.endm

# Back to M-mode from below.
.macro LEAVE
    la s1, 77f
    ecall
77:
.endm

# Waits for the interrupt of this code, which must come; M-mode.
.macro INTERRUPTED code
    la s1, 77f
    csrsi mstatus, MSTATUS_MIE
76: j 76b
77: CHECK s2, (1 << 63) | \code
.endm

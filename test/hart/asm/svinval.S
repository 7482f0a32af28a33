# Svinval: sinval.vma invalidates, and which mode may execute the three instructions.
.include "macros.S"

.equ WINDOW, 0x40000000
.equ RW, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D

.macro LEAF symbol
    la t1, \symbol
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, RW
    la t0, leaves
    sd t1, 0(t0)
.endm

main:
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    la t1, middle
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, PTE_V
    sd t1, 8(t0)
    la t1, leaves
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, PTE_V
    la t0, middle
    sd t1, 0(t0)
    la t0, first
    li t1, 1
    sd t1, 0(t0)
    la t0, second
    li t1, 2
    sd t1, 0(t0)
    LEAF first
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li a0, WINDOW

    CASE 1 # the sequence of the specification, one address
    ENTER 1
    ld t0, 0(a0)
    CHECK t0, 1
    LEAF second
    sfence.w.inval
    sinval.vma a0, zero
    sfence.inval.ir
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 2

    CASE 2 # every address
    ENTER 1
    ld t0, 0(a0)
    LEAF first
    sfence.w.inval
    sinval.vma zero, zero
    sfence.inval.ir
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 1

    CASE 3 # with an address space
    ENTER 1
    LEAF second
    sfence.w.inval
    sinval.vma a0, t0
    sfence.inval.ir
    ld t0, 0(a0)
    LEAVE

    CASE 4 # illegal in U-mode, which runs on bare addresses
    csrw satp, zero
    sfence.vma
    ENTER 0
    TRAPS 2, sinval.vma zero, zero

    CASE 5 # rd is fixed
    TRAPS 2, .word 0x160000f3

    CASE 6 # M-mode may
    sfence.w.inval
    sinval.vma zero, zero
    sfence.inval.ir

    CASE 7 # TVM traps sinval.vma
    li t0, MSTATUS_TVM
    csrs mstatus, t0
    ENTER 1
    TRAPS 2, sinval.vma zero, zero
    j pass

.balign 4096
root: .zero 4096
middle: .zero 4096
leaves: .zero 4096
first: .zero 4096
second: .zero 4096

# Paging rules of newer specifications, which QEMU 7.2 does not have: PBMTE, the reserved memory type, Svadu's ADUE, and
# Svinval's fences in U-mode. Only on this emulator.
.include "macros.S"

.equ WINDOW, 0x40000000
.equ PBMTE, 62
.equ NC, 61
.equ IO, 62
.equ RESERVED_TYPE, 3 << 61
.equ ADUE, 61

# Stores the PTE of a symbol with these bits, bit `high` set, in entry `index` of a table.
.macro MAP table, index, symbol, bits, high
    la t1, \symbol
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, (\bits)
    .if \high
    li t2, 1
    slli t2, t2, \high
    or t1, t1, t2
    .endif
    la t0, \table
    li t2, 8 * (\index)
    add t0, t0, t2
    sd t1, 0(t0)
    sfence.vma
.endm

.macro SET_PBMTE
    li t0, 1
    slli t0, t0, PBMTE
    csrs menvcfg, t0
.endm

.macro CLEAR_PBMTE
    li t0, 1
    slli t0, t0, PBMTE
    csrc menvcfg, t0
.endm

.equ RW, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D

main:
    la t0, root
    li t1, 0 << 10 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 0(t0)
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    MAP root, 1, middle, PTE_V, 0
    MAP middle, 0, leaves, PTE_V, 0
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li a0, WINDOW
    la t1, data
    li t0, 0x1234
    sd t0, 0(t1)

    CASE 1 # at reset memory types are legal and the hart sets A and D
    csrr t0, menvcfg
    srli t0, t0, ADUE
    andi t0, t0, 3
    CHECK t0, 3

    CASE 2 # without PBMTE a memory type is reserved
    CLEAR_PBMTE
    MAP leaves, 0, data, RW, NC
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    MAP leaves, 0, data, RW, IO
    ENTER 1
    TRAPS_AT 15, a0, sd t0, 0(a0)

    CASE 3 # and with it type 3
    SET_PBMTE
    MAP leaves, 0, data, RW, NC
    la t0, leaves
    ld t1, 0(t0)
    li t2, RESERVED_TYPE
    or t1, t1, t2
    sd t1, 0(t0)
    sfence.vma
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)

    CASE 4 # a change of PBMTE needs no fence to be seen after one
    MAP leaves, 0, data, RW, NC
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x1234
    CLEAR_PBMTE
    sfence.vma
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    SET_PBMTE

    CASE 5 # without ADUE a clear A, or D for a store, is a page fault, and the PTE stays
    li t0, 1
    slli t0, t0, ADUE
    csrc menvcfg, t0
    sfence.vma
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_W, 0
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    la t0, leaves
    ld t1, 0(t0)
    andi t1, t1, PTE_A | PTE_D
    CHECK t1, 0
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_W | PTE_A, 0
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x1234
    ENTER 1
    TRAPS_AT 15, a0, sd t0, 0(a0)
    ENTER 1
    TRAPS_AT 15, a0, amoadd.d t0, t0, (a0)
    MAP leaves, 0, data, RW, 0
    ENTER 1
    sd t0, 8(a0)
    LEAVE
    li t0, 1
    slli t0, t0, ADUE
    csrs menvcfg, t0

    CASE 6 # bits 60:54 stay reserved
    MAP leaves, 0, data, RW, 60
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    MAP leaves, 0, data, RW, 54
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)

    CASE 7 # Svinval's fences are illegal in U-mode
    csrw satp, zero
    sfence.vma
    ENTER 0
    TRAPS 2, sfence.w.inval
    ENTER 0
    TRAPS 2, sfence.inval.ir
    j pass

.balign 4096
root: .zero 4096
middle: .zero 4096
leaves: .zero 4096
data: .zero 4096

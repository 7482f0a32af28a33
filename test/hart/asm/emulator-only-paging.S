# Paging rules of newer specifications, which QEMU 7.2 does not have: PBMTE, the reserved memory
# type, ADUE of Svadu, and the fences of Svinval in U-mode. Only on this emulator.
.include "macros.S"
.include "window.S"

.equ RESERVED_TYPE, 3 << 61
.equ ADUE, 61

main:
    OPEN_WINDOW

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

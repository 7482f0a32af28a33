# Sv39 and Sv48: permissions, A and D, superpages, reserved encodings, canonical addresses, loops, sfence.vma, MPRV.
.include "macros.S"

# Tests map va WINDOW, 4 KiB pages, through `leaves`; code and devices are mapped one to one by gigapages.
.equ WINDOW, 0x40000000

# Register t1 := PTE for a symbol with these bits.
.macro PTE_OF symbol, bits:vararg
    la t1, \symbol
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, (\bits)
.endm

# Stores it in entry `index` of a table.
.macro MAP table, index, symbol, bits:vararg
    PTE_OF \symbol, \bits
    la t0, \table
    li t2, 8 * (\index)
    add t0, t0, t2
    sd t1, 0(t0)
    sfence.vma
.endm

.macro PTE_CHECK index, mask, value
    la t0, leaves
    ld t0, 8 * \index(t0)
    li t1, \mask
    and t0, t0, t1
    CHECK t0, \value
.endm

# An access fault of this cause, or the page fault 8 (fetch: 11) above it; mtval = a0.
.macro FAULTS cause, instruction:vararg
    la s1, 79f
    \instruction
    j fail
79: li t6, \cause
    beq s2, t6, 76f
    addi t6, t6, 8
    beq s2, t6, 76f
    CHECK s2, 12
76: SAME s3, a0
.endm

main:
    la t0, root
    li t1, 0 << 10 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 0(t0)
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    MAP root, 1, middle, PTE_V
    MAP middle, 0, leaves, PTE_V
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li a0, WINDOW
    li t0, 0x1234
    la t1, data
    sd t0, 0(t1)

    CASE 1 # nothing mapped
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    ENTER 1
    TRAPS_AT 15, a0, sd t0, 0(a0)
    ENTER 1
    la s1, 1f
    jr a0
1:  CHECK s2, 12
    SAME s4, a0
    SAME s3, a0

    CASE 2 # a load sets A, a store D
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_W
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x1234
    PTE_CHECK 0, 0xc0, PTE_A
    ENTER 1
    sd t0, 8(a0)
    LEAVE
    PTE_CHECK 0, 0xc0, PTE_A | PTE_D

    CASE 3 # a failing access changes neither
    MAP leaves, 0, data, PTE_V | PTE_R
    ENTER 1
    TRAPS 15, sd t0, 0(a0)
    PTE_CHECK 0, 0xc0, 0

    CASE 4 # U pages: not for S without SUM, never for S to execute; S pages not for U
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_W | PTE_X | PTE_U | PTE_A | PTE_D
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    ENTER 1
    li t0, MSTATUS_SUM
    csrs sstatus, t0
    ld t0, 0(a0)
    sd t0, 8(a0)
    # QEMU would execute from the entry that the load has cached
    sfence.vma
    la s1, 1f
    jr a0
1:  CHECK s2, 12
    ENTER 1
    ld t0, 0(a0) # the entry that S with SUM may use must not serve S without it
    li t0, MSTATUS_SUM
    csrc sstatus, t0
    TRAPS 13, ld t0, 0(a0)

    CASE 5 # execute-only and MXR
    MAP leaves, 0, data, PTE_V | PTE_X | PTE_A
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    ENTER 1
    li t0, MSTATUS_MXR
    csrs sstatus, t0
    ld t0, 0(a0)
    csrr t1, sstatus
    li t0, MSTATUS_MXR
    csrc sstatus, t0
    TRAPS 13, ld t0, 0(a0)

    CASE 6 # reserved: W without R, bits 63:54, leaf bits in a pointer, pointer at the last level
    MAP leaves, 0, data, PTE_V | PTE_W | PTE_A | PTE_D
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    MAP leaves, 0, data, PTE_V | PTE_W | PTE_X | PTE_A | PTE_D
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    PTE_OF data, PTE_V | PTE_R | PTE_A
    li t0, 1 << 60
    or t1, t1, t0
    la t0, leaves
    sd t1, 0(t0)
    sfence.vma
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    MAP leaves, 0, data, PTE_V
    ENTER 1
    TRAPS 13, ld t0, 0(a0)
    MAP leaves, 0, data, PTE_R | PTE_A
    ENTER 1
    TRAPS 13, ld t0, 0(a0)

    CASE 7 # a crossing access names the page that fails
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    li a1, WINDOW + 0xffc
    li a2, WINDOW + 0x1000
    ENTER 1
    TRAPS_AT 13, a2, ld t0, 0(a1)
    ENTER 1
    TRAPS_AT 15, a2, sd t0, 0(a1)
    MAP leaves, 1, data + 0x2000, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    ENTER 1
    li t0, 0x1122334455667788
    sd t0, 0(a1)
    ld t1, 0(a1)
    SAME t0, t1
    lwu t1, 0(a2)
    CHECK t1, 0x11223344
    LEAVE
    la t0, data
    li t1, 0xffc
    add t0, t0, t1
    lwu t1, 0(t0)
    CHECK t1, 0x55667788

    CASE 8 # superpages: aligned ones work, misaligned ones fault
    la t0, middle
    li t1, 0x80000000 >> 2 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 8(t0)
    sfence.vma
    li a1, WINDOW + 0x200000
    la t0, data
    li t1, 0x80000000
    sub t0, t0, t1
    add a1, a1, t0
    ENTER 1
    ld t0, 0(a1)
    LEAVE
    CHECK t0, 0x1234
    la t0, middle
    li t1, 0x80001000 >> 2 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 8(t0)
    sfence.vma
    ENTER 1
    TRAPS_AT 13, a1, ld t0, 0(a1)

    CASE 9 # not canonical
    li a1, WINDOW | 1 << 39
    ENTER 1
    TRAPS_AT 13, a1, ld t0, 0(a1)
    li a1, 1 << 38
    ENTER 1
    TRAPS_AT 13, a1, ld t0, 0(a1)
    ENTER 1
    la s1, 1f
    jr a1
1:  CHECK s2, 12
    SAME s3, a1

    CASE 10 # a table that points at itself
    MAP root, 1, root, PTE_V
    li a1, WINDOW | 1 << 21 | 1 << 12
    ENTER 1
    TRAPS_AT 13, a1, ld t0, 0(a1)
    # ... whose gigapage entry is a leaf at every level: WINDOW + 2 MiB * 2 maps its first 2 MiB
    li a1, WINDOW + 0x400000
    ENTER 1
    ld t0, 0(a1)
    LEAVE
    la t1, _start
    ld t1, 0(t1)
    SAME t0, t1
    MAP root, 1, middle, PTE_V

    CASE 11 # page tables where there is no memory: access faults; QEMU 7.2 says page faults
    la t0, root
    li t1, HOLE >> 2 | PTE_V
    sd t1, 8(t0)
    sfence.vma
    ENTER 1
    FAULTS 5, ld t0, 0(a0)
    ENTER 1
    FAULTS 7, sd t0, 0(a0)
    ENTER 1
    FAULTS 1, jr a0
    la t0, root
    li t1, ((1 << 54) - 1024) | PTE_V
    sd t1, 8(t0)
    sfence.vma
    ENTER 1
    FAULTS 5, ld t0, 0(a0)
    MAP root, 1, middle, PTE_V

    CASE 12 # sfence.vma of one address
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_A
    MAP leaves, 1, data, PTE_V | PTE_R | PTE_A
    ENTER 1
    ld t0, 0(a0)
    la t0, leaves
    sd zero, 0(t0)
    sfence.vma a0
    TRAPS 13, ld t0, 0(a0)
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_A
    ENTER 1
    ld t0, 0(a0)
    la t0, leaves
    sd zero, 0(t0)
    li t1, 3
    sfence.vma a0, t1
    sfence.vma zero, zero
    TRAPS 13, ld t0, 0(a0)

    CASE 13 # MPRV: M accesses as MPP says, fetches as M
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_A
    MAP leaves, 1, data, PTE_V | PTE_R | PTE_U | PTE_A
    li a1, WINDOW + 0x1000
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, 1 << 11 | MSTATUS_MPRV
    csrs mstatus, t0
    ld t0, 0(a0)
    CHECK t0, 0x1234
    li t0, MSTATUS_SUM
    csrs mstatus, t0
    ld t0, 0(a1)
    CHECK t0, 0x1234
    csrr t1, mstatus
    li t0, MSTATUS_SUM
    csrc mstatus, t0
    TRAPS_AT 13, a1, ld t0, 0(a1)
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    ld t0, 0(a1)
    CHECK t0, 0x1234
    TRAPS_AT 13, a0, ld t0, 0(a0)
    li t0, MSTATUS_MPRV
    csrc mstatus, t0

    CASE 14 # executing in U from a U page
    la t0, code_page
    li t1, 0x00000073 # ecall
    sw t1, 0(t0)
    fence.i
    MAP leaves, 2, code_page, PTE_V | PTE_X | PTE_U | PTE_A
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, WINDOW + 0x2000
    csrw mepc, t0
    la s1, 1f
    mret
1:  CHECK s2, 8
    CHECK s4, WINDOW + 0x2000

    CASE 15 # an instruction across two pages, the second of which is missing
    la t0, code_page
    li t1, 0x0001 # c.nop
    li t2, 0xffc
    add t0, t0, t2
    sh t1, 0(t0)
    li t1, 0x0073
    sh t1, 2(t0)
    fence.i
    MAP leaves, 3, zeroes, 0
    li t0, WINDOW + 0x2ffe
    csrw mepc, t0
    la s1, 1f
    mret
1:  CHECK s2, 12
    CHECK s3, WINDOW + 0x3000
    CHECK s4, WINDOW + 0x2ffe

    CASE 16 # Sv48: four levels, a terapage, canonical addresses
    MAP root48, 0, root, PTE_V
    MAP root, 1, middle, PTE_V
    MAP leaves, 0, data, PTE_V | PTE_R | PTE_A
    la t0, root48
    li t1, PTE_V | PTE_R | PTE_A
    sd t1, 8(t0)
    la t0, root48
    srli t0, t0, 12
    li t1, 9 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x1234
    la a1, data
    li t0, 1 << 39
    add a1, a1, t0
    ENTER 1
    ld t0, 0(a1)
    LEAVE
    CHECK t0, 0x1234
    li t0, 1 << 48
    add a1, a1, t0
    ENTER 1
    TRAPS_AT 13, a1, ld t0, 0(a1)
    csrw satp, zero
    j pass

.balign 4096
zeroes:
data: .zero 0x4000
code_page: .zero 4096
root: .zero 4096
root48: .zero 4096
middle: .zero 4096
leaves: .zero 4096

# Svpbmt and Svnapot: memory types and 64 KiB leaves, reserved encodings, menvcfg.PBMTE.
.include "macros.S"
.include "window.S"

.equ N, 63

main:
    OPEN_WINDOW

    CASE 1 # PBMTE can be set and cleared
    SET_PBMTE
    csrr t0, menvcfg
    srli t0, t0, PBMTE
    andi t0, t0, 1
    CHECK t0, 1
    CLEAR_PBMTE
    csrr t0, menvcfg
    srli t0, t0, PBMTE
    andi t0, t0, 1
    CHECK t0, 0

    CASE 3 # with it NC and IO translate
    SET_PBMTE
    sfence.vma
    MAP leaves, 0, data, RW, NC
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x1234
    MAP leaves, 0, data, RW, IO
    li t1, 0x5678
    ENTER 1
    sd t1, 0(a0)
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x5678

    CASE 4 # in superpages, too
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    li t2, 1
    slli t2, t2, NC
    or t1, t1, t2
    sd t1, 24(t0)
    sfence.vma
    la a1, data
    slli a1, a1, 34
    srli a1, a1, 34
    li t2, 0xc0000000
    or a1, a1, t2
    ENTER 1
    ld t0, 0(a1)
    LEAVE
    CHECK t0, 0x5678

    CASE 5 # a pointer to a table has no type
    MAP middle, 0, leaves, PTE_V, NC
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    MAP middle, 0, leaves, PTE_V, 0

    CASE 7 # a 64 KiB leaf: each of its 16 entries maps the va's own page
    la t1, data
    srli t1, t1, 12
    ori t1, t1, 8
    slli t1, t1, 10
    ori t1, t1, RW
    li t2, 1
    slli t2, t2, N
    or t1, t1, t2
    la t0, leaves
    li t2, 16
1:  sd t1, 0(t0)
    addi t0, t0, 8
    addi t2, t2, -1
    bnez t2, 1b
    sfence.vma
    la t0, data
    li t1, 0x3000
    add t0, t0, t1
    li t2, 0x99
    sd t2, 8(t0)
    li a1, WINDOW + 0x3008
    ENTER 1
    ld t0, 0(a1)
    LEAVE
    CHECK t0, 0x99
    ENTER 1
    ld t0, 0(a0)
    LEAVE
    CHECK t0, 0x5678

    CASE 8 # other sizes are reserved
    la t1, data
    srli t1, t1, 12
    ori t1, t1, 4
    slli t1, t1, 10
    ori t1, t1, RW
    li t2, 1
    slli t2, t2, N
    or t1, t1, t2
    la t0, leaves
    sd t1, 0(t0)
    sfence.vma
    ENTER 1
    TRAPS_AT 13, a0, ld t0, 0(a0)
    CLEAR_PBMTE
    j pass

.balign 4096
root: .zero 4096
middle: .zero 4096
leaves: .zero 4096
.balign 65536
data: .zero 65536

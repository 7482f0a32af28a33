# Random PMP entries over two pages, loads and stores of random widths against them, from U, S and M.
.include "macros.S"
.include "random.S"

.equ ROUNDS, 5000

main:
    SEED_RANDOM
    # everything else stays accessible through the last entry
    li t0, -1
    csrw pmpaddr7, t0

round:
    la a3, area
.irp n, 0, 1, 2, 3
    RANDOM a0
    andi t1, a0, 0x3f8
    andi t2, a0, 7
    bnez t2, 1f
    # a large NAPOT range: trailing ones
    ori t1, t1, 0x1ff
1:  srli t2, a0, 40
    andi t2, t2, 1
    slli t2, t2, 10
    add t1, t1, t2
    srli t2, a3, 2
    add t1, t1, t2
    srli t2, a0, 44
    andi t2, t2, 3
    beqz t2, 1f
    addi t1, t1, 1
1:  csrw pmpaddr\n, t1
.endr
    # four configurations: A and R, W, X; W without R is reserved
    RANDOM a0
    li t0, 0x1f1f1f1f
    and a1, a0, t0
    li t0, 0x02020202
    and t1, a1, t0
    srli t1, t1, 1
    or a1, a1, t1
    # four in five rounds with the entry for everything else
    srli t0, a0, 40
    li t1, 5
    remu t0, t0, t1
    beqz t0, 1f
    li t0, 0x1f << 56
    or a1, a1, t0
1:  csrw pmpcfg0, a1
    csrr t0, pmpcfg0
    HASH t0

    li s11, 8
access:
    RANDOM a0
    li t0, 0x1fff
    and a2, a0, t0
    add a2, a2, a3
    srli t0, a0, 20
    andi t1, t0, 3
    bnez t1, 1f
    andi a2, a2, -4
    # not across the page: QEMU checks the aligned neighbours then
1:  li t0, 0xff8
    and t1, a2, t0
    bne t1, t0, 1f
    andi a2, a2, -8
1:  li t0, MSTATUS_MPP | MSTATUS_MPRV
    csrc mstatus, t0
    srli t0, a0, 24
    andi t0, t0, 1
    slli t0, t0, 11
    csrs mstatus, t0
    li s2, 0
    li s3, 0
    li a4, 0
    la s1, after
    srli t1, a0, 28
    andi t1, t1, 7
    srli t2, a0, 32
    andi t2, t2, 7
    beqz t2, 1f
    li t0, MSTATUS_MPRV
    csrs mstatus, t0
    # QEMU misses an entry of four bytes inside a misaligned doubleword
1:  andi t0, t1, 3
    li t2, 3
    bne t0, t2, 1f
    andi a2, a2, -4
1:  la t0, accesses
    slli t1, t1, 3
    add t0, t0, t1
    jr t0
accesses:
    lb a4, 0(a2)
    j after
    lh a4, 0(a2)
    j after
    lw a4, 0(a2)
    j after
    ld a4, 0(a2)
    j after
    sb a0, 0(a2)
    j after
    sh a0, 0(a2)
    j after
    sw a0, 0(a2)
    j after
    sd a0, 0(a2)
after:
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    li s1, 0
    HASH s2
    HASH s3
    HASH a4
    addi s11, s11, -1
    bnez s11, access
    NEXT_ROUND round, ROUNDS
    j pass

.balign 4096
area: .zero 0x4000

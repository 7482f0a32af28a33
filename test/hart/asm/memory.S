# Misaligned accesses, holes in the address space, the end of the address space, atomics.
.include "macros.S"

main:
    la a0, area
    li t0, 0x1122334455667788
    sd t0, 0(a0)
    li t0, 0x99aabbccddeeff00
    sd t0, 8(a0)

    CASE 1 # every offset of loads
.irp offset, 1, 2, 3, 4, 5, 6, 7
    ld t0, \offset(a0)
    ld t1, 0(a0)
    ld t2, 8(a0)
    srli t1, t1, 8 * \offset
    slli t2, t2, 64 - 8 * \offset
    or t1, t1, t2
    SAME t0, t1
    lw t0, \offset(a0)
    sext.w t1, t1
    SAME t0, t1
    lhu t0, \offset(a0)
    slli t1, t1, 48
    srli t1, t1, 48
    SAME t0, t1
.endr

    CASE 2 # every offset of stores
.irp offset, 1, 2, 3, 4, 5, 6, 7
    sd zero, 16(a0)
    sd zero, 24(a0)
    li t0, 0x8899aabbccddeeff
    sd t0, 16 + \offset(a0)
    ld t1, 16 + \offset(a0)
    SAME t0, t1
    li t0, 0x1234
    sh t0, 16 + \offset(a0)
    lhu t1, 16 + \offset(a0)
    SAME t0, t1
    lbu t1, 16 + \offset + 2(a0)
    CHECK t1, 0xdd
.endr

    CASE 3 # across a page
    li t0, 4096 - 3
    add a1, a0, t0
    li t0, 0x0102030405060708
    sd t0, 0(a1)
    ld t1, 0(a1)
    SAME t0, t1

    CASE 4 # nothing there
    li a1, HOLE
    TRAPS_AT 5, a1, lb t0, 0(a1)
    TRAPS_AT 7, a1, sb t0, 0(a1)
    la s1, 1f
    jr a1
1:  CHECK s2, 1
    SAME s3, a1
    SAME s4, a1

    CASE 5 # the end of the address space
    li a1, -8
    TRAPS_AT 5, a1, ld t0, 0(a1)
    li a1, -4
    # tval is not compared: QEMU rounds the address down
    TRAPS 5, ld t0, 0(a1)
    TRAPS 7, sd t0, 0(a1)
    li a1, -2
    la s1, 1f
    jr a1
1:  CHECK s2, 1
    SAME s3, a1
    li a1, -1
    TRAPS 5, lh t0, 0(a1)
    li a1, 0xffffffff80000000
    TRAPS_AT 5, a1, ld t0, 0(a1)

    CASE 6 # atomics
    li t0, 0x7fffffff
    sd t0, 0(a0)
    li t1, 1
    amoadd.w t2, t1, (a0)
    SAME t2, t0
    ld t0, 0(a0)
    CHECK t0, 0x80000000
    amomax.w t2, t1, (a0)
    CHECK t2, -0x80000000
    amominu.d t2, zero, (a0)
    CHECK t2, 1
    li t0, -1
    amoswap.d t2, t0, (a0)
    amoxor.d t2, t0, (a0)
    ld t0, 0(a0)
    CHECK t0, 0

    CASE 7 # misaligned lr traps
    addi a1, a0, 2
    TRAPS_AT 4, a1, lr.w t0, (a1)
    addi a1, a0, 4
    TRAPS_AT 4, a1, lr.d t0, (a1)
    amoadd.w t0, t0, (a1)

    CASE 8 # lr and sc
    lr.d t0, (a0)
    sc.d t1, t0, (a0)
    CHECK t1, 0
    sc.d t1, t0, (a0)
    CHECK t1, 1
    lr.w t0, (a0)
    addi a1, a0, 64
    sc.w t1, t0, (a1)
    CHECK t1, 1
    sc.w t1, t0, (a0)
    CHECK t1, 1
    # no reservation: no store, hence no fault
    li a1, HOLE
    sc.w t1, t0, (a1)
    CHECK t1, 1
    j pass

.balign 4096
area: .zero 8192

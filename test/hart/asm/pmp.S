# Physical memory protection: address modes, priorities, locks, execution, and MPRV under PMP.
.include "macros.S"

main:
    la a0, area
    CASE 1 # no entry matches: S and U fail, M does not. Entry 1 is the switchable fallback.
    csrw pmpcfg0, zero
    ld t0, 0(a0)
    li t0, -1
    csrw pmpaddr7, t0
    li t0, 0x1f << 56
    csrw pmpcfg0, t0
    ENTER 1
    ld t0, 0(a0)
    LEAVE

    CASE 2 # NAPOT of 8 bytes without permissions, in front of the fallback
    srli t0, a0, 2
    csrw pmpaddr0, t0
    li t0, 0x1f << 56 | 0x18
    csrw pmpcfg0, t0
    ENTER 1
    TRAPS_AT 5, a0, ld t0, 0(a0)
    ENTER 1
    TRAPS_AT 7, a0, sb t0, 0(a0)
    ENTER 1
    ld t0, 8(a0)
    sd t0, 8(a0)
    LEAVE
    ld t0, 0(a0)

    CASE 3 # an access that an entry matches partly
    addi a1, a0, 4
    ENTER 1
    TRAPS_AT 5, a1, ld t0, 0(a1)
    ENTER 1
    TRAPS 5, lw t0, 0(a1)

    CASE 4 # NA4, read only
    li t0, 0x1f << 56 | 0x11
    csrw pmpcfg0, t0
    ENTER 1
    lw t0, 0(a0)
    TRAPS_AT 7, a0, sw t0, 0(a0)
    ENTER 1
    sw t0, 4(a0)
    LEAVE

    CASE 5 # TOR: [area + 16, area + 32)
    addi t0, a0, 16
    srli t0, t0, 2
    csrw pmpaddr0, t0
    addi t0, a0, 32
    srli t0, t0, 2
    csrw pmpaddr1, t0
    li t0, 0x1f << 56 | 0x09 << 8
    csrw pmpcfg0, t0
    ENTER 1
    sd t0, 8(a0)
    ld t0, 16(a0)
    ld t0, 24(a0)
    addi a1, a0, 24
    TRAPS_AT 7, a1, sd t0, 24(a0)
    ENTER 1
    sd t0, 32(a0)
    LEAVE

    CASE 6 # execution
    la t0, function
    srli t0, t0, 2
    csrw pmpaddr0, t0
    li t0, 0x1f << 56 | 0x1b
    csrw pmpcfg0, t0
    ENTER 1
    la a1, function
    la s1, 1f
    jr a1
1:  CHECK s2, 1
    SAME s3, a1
    SAME s4, a1
    li t0, 0x1f << 56 | 0x1c
    csrw pmpcfg0, t0
    ENTER 1
    jalr a1
    CHECK a2, 42
    TRAPS_AT 5, a1, lw t0, 0(a1)

    CASE 7 # MPRV: M is checked as S
    srli t0, a0, 2
    csrw pmpaddr0, t0
    li t0, 0x1f << 56 | 0x18
    csrw pmpcfg0, t0
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, 1 << 11 | MSTATUS_MPRV
    csrs mstatus, t0
    TRAPS_AT 5, a0, ld t0, 0(a0)
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    ld t0, 0(a0)

    CASE 8 # a lock binds M, and address and configuration stay
    csrr t1, pmpaddr0
    li t0, 0x1f << 56 | 0x99
    csrw pmpcfg0, t0
    ld t0, 0(a0)
    TRAPS_AT 7, a0, sd t0, 0(a0)
    li t0, 0x1f << 56 | 0x1f
    csrw pmpcfg0, t0
    csrr t0, pmpcfg0
    andi t0, t0, 0xff
    CHECK t0, 0x99
    csrw pmpaddr0, zero
    csrr t0, pmpaddr0
    SAME t0, t1
    TRAPS_AT 7, a0, sd t0, 0(a0)

    CASE 9 # a locked TOR entry locks the address below it
    addi t0, a0, 64
    srli t0, t0, 2
    csrw pmpaddr2, t0
    addi t0, a0, 72
    srli t0, t0, 2
    csrw pmpaddr3, t0
    li t0, 0x1f << 56 | 0x89 << 24
    csrw pmpcfg0, t0
    csrw pmpaddr2, zero
    csrr t0, pmpaddr2
    addi t1, a0, 64
    srli t1, t1, 2
    SAME t0, t1
    addi a1, a0, 64
    TRAPS_AT 7, a1, sd t0, 64(a0)
    ld t0, 64(a0)
    sd t0, 56(a0)
    sd t0, 72(a0)

    CASE 10 # odd configuration registers and entries from 16 do not exist
    TRAPS 2, csrr t0, 0x3a1
    TRAPS 2, csrr t0, 0x3a4
    csrr t0, 0x3bf
    TRAPS 2, csrr t0, 0x3c0
    j pass

.balign 8
function:
    li a2, 42
    ret

.balign 4096
area: .zero 4096

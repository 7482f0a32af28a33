# Sstc: stimecmp drives mip.STIP under menvcfg.STCE, and the enables in front of the register.
.include "macros.S"

.equ STCE, 63

main:
    li t0, 1
    slli a5, t0, STCE
    li t0, -1
    csrw stimecmp, t0

    CASE 1 # STCE can be set; then STIP is not software's
    csrs menvcfg, a5
    csrr t0, menvcfg
    and t0, t0, a5
    SAME t0, a5
    li t0, 0x20
    csrs mip, t0
    csrr t1, mip
    and t1, t1, t0
    CHECK t1, 0

    CASE 2 # all 64 bits are kept
    li t0, 0x123456789abcdef0
    csrw stimecmp, t0
    csrr t1, stimecmp
    SAME t0, t1

    CASE 3 # in S-mode it needs STCE and mcounteren.TM, in U-mode nothing helps
    csrwi mcounteren, 2
    ENTER 1
    csrr t1, stimecmp
    LEAVE
    csrwi mcounteren, 5
    ENTER 1
    TRAPS 2, csrr t1, stimecmp
    csrwi mcounteren, 7
    csrc menvcfg, a5
    ENTER 1
    TRAPS 2, csrw stimecmp, t0
    csrs menvcfg, a5
    csrwi scounteren, 7
    ENTER 0
    TRAPS 2, csrr t1, stimecmp

    CASE 4 # a time in the past is pending at once, one in the future is not
    csrw stimecmp, zero
    csrr t1, mip
    andi t1, t1, 0x20
    CHECK t1, 0x20
    li t0, -1
    csrw stimecmp, t0
    csrr t1, mip
    andi t1, t1, 0x20
    CHECK t1, 0

    CASE 5 # the interrupt arrives in S-mode, not before its time
    li t0, 0x20
    csrw mideleg, t0
    csrw mie, t0
    la t0, timer
    csrw stvec, t0
    csrr s7, time
    li t0, 20000
    add s7, s7, t0
    csrw stimecmp, s7
    ENTER 1
    csrsi sstatus, MSTATUS_SIE
1:  wfi
    j 1b
.balign 4
timer:
    csrr s8, time
    csrr s9, scause
    csrr s10, sip
    li t0, -1
    csrw stimecmp, t0
    csrr s11, sip
    LEAVE
    li t6, 1 << 63 | 5
    SAME s9, t6
    bgeu s8, s7, 1f
    j fail
1:  andi s10, s10, 0x20
    CHECK s10, 0x20
    andi s11, s11, 0x20
    CHECK s11, 0

    CASE 6 # without delegation M-mode takes it
    csrw mideleg, zero
    csrw stimecmp, zero
    INTERRUPTED 5
    csrw mie, zero
    li t0, -1
    csrw stimecmp, t0
    csrc menvcfg, a5
    j pass

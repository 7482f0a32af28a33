# TVM, TW, TSR, counter enables, FS, and the fields of mstatus that xret clears.
.include "macros.S"

main:
    CASE 1 # TSR
    la t0, 1f
    csrw sepc, t0
    li t0, MSTATUS_SPP
    csrs mstatus, t0
    ENTER 1
    sret
1:  LEAVE
    li t0, MSTATUS_TSR
    csrs mstatus, t0
    ENTER 1
    li t0, 0x10200073
    TRAPS_AT 2, t0, sret
    li t0, MSTATUS_TSR
    csrc mstatus, t0

    CASE 2 # TVM: satp and sfence.vma of S, never of M
    li t0, MSTATUS_TVM
    csrs mstatus, t0
    csrr t1, satp
    sfence.vma
    ENTER 1
    TRAPS 2, csrr t0, satp
    ENTER 1
    TRAPS 2, csrw satp, zero
    ENTER 1
    TRAPS 2, sfence.vma
    li t0, MSTATUS_TVM
    csrc mstatus, t0
    ENTER 1
    csrr t0, satp
    sfence.vma
    LEAVE

    CASE 3 # TW
    li t0, MSTATUS_TW
    csrs mstatus, t0
    csrwi mideleg, 2
    csrci mstatus, MSTATUS_SIE
    csrwi mie, 2
    csrwi mip, 2
    wfi
    ENTER 1
    TRAPS 2, wfi
    li t0, MSTATUS_TW
    csrc mstatus, t0
    ENTER 1
    wfi
    LEAVE
    csrwi mie, 0
    csrwi mip, 0

    CASE 4 # counter enables
    csrw mcounteren, zero
    csrw scounteren, zero
    csrr t0, cycle
    csrr t0, instret
    ENTER 1
    TRAPS 2, csrr t0, cycle
    ENTER 1
    TRAPS 2, csrr t0, time
    csrwi mcounteren, 7
    ENTER 1
    csrr t0, cycle
    csrr t0, time
    csrr t0, instret
    LEAVE
    ENTER 0
    TRAPS 2, csrr t0, instret
    csrwi scounteren, 4
    ENTER 0
    csrr t0, instret
    TRAPS 2, csrr t0, cycle

    CASE 5 # FS off: every F and D instruction and CSR is illegal; a write makes it dirty
    li t0, MSTATUS_FS
    csrc mstatus, t0
    TRAPS 2, csrr t0, fcsr
    TRAPS 2, fmv.d.x ft0, zero
    TRAPS 2, flw ft0, 0(sp)
    li t0, 1 << 13
    csrs mstatus, t0
    csrr t0, mstatus
    srli t1, t0, 63
    CHECK t1, 0
    fmv.d.x ft0, zero
    csrr t0, mstatus
    srli t1, t0, 63
    CHECK t1, 1
    srli t1, t0, 13
    andi t1, t1, 3
    CHECK t1, 3

    CASE 6 # reserved rounding modes are illegal
    fsrmi 5
    TRAPS 2, fadd.d ft0, ft0, ft0
    fsrmi 0
    TRAPS 2, .word 0x02005053
    fadd.d ft0, ft0, ft0

    CASE 7 # S sees and writes its part of mstatus, mie and mip only
    li t0, 0x222
    csrw mideleg, t0
    li t1, -1
    csrw mie, t1
    csrr t1, sie
    CHECK t1, 0x222
    csrw sie, zero
    csrr t1, mie
    andi t1, t1, 0x7ff & 0xaa
    CHECK t1, 0x88
    csrwi mideleg, 2
    li t1, -1
    csrw sie, t1
    csrr t1, sie
    CHECK t1, 2
    csrw mie, zero
    li t1, -1
    csrw sip, t1
    csrr t1, mip
    andi t1, t1, 0x222
    CHECK t1, 2
    csrw mip, zero
    csrw mideleg, zero
    li t0, MSTATUS_MPRV | MSTATUS_TVM | MSTATUS_TW | MSTATUS_TSR
    csrc mstatus, t0
    li t1, -1
    csrw sstatus, t1
    csrr t1, mstatus
    and t1, t1, t0
    CHECK t1, 0
    li t1, MSTATUS_SUM | MSTATUS_MXR
    csrr t0, sstatus
    and t0, t0, t1
    SAME t0, t1
    csrc sstatus, t1

    CASE 8 # satp ignores modes that do not exist
    li t0, 8 << 60 | 5
    csrw satp, t0
    li t1, 3 << 60 | 7
    csrw satp, t1
    csrr t1, satp
    SAME t0, t1
    csrw satp, zero
    j pass

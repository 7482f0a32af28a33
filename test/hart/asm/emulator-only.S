# What QEMU does differently: exact counters, no triggers, no execution from devices. Only on this emulator.
.include "macros.S"

main:
    CASE 1 # one per instruction
    csrr t0, minstret
    csrr t1, minstret
    sub t1, t1, t0
    CHECK t1, 1
    csrr t0, minstret
    nop
    nop
    csrr t1, minstret
    sub t1, t1, t0
    CHECK t1, 3

    CASE 2 # what was written is what the next instruction reads
    li t0, 1000
    csrw minstret, t0
    csrr t1, minstret
    CHECK t1, 1000
    li t0, -1
    csrw minstret, t0
    nop
    csrr t1, minstret
    CHECK t1, 0

    CASE 3 # exceptions are cycles, but do not retire
    csrr a0, mcycle
    csrr a1, minstret
    TRAPS 11, ecall
    csrr a2, minstret
    csrr a3, mcycle
    sub a2, a2, a1
    sub a3, a3, a0
    # mcycle is read around minstret: two more, and the exception
    sub a3, a3, a2
    CHECK a3, 3

    CASE 4 # inhibition
    csrwi mcountinhibit, 4
    csrr t0, minstret
    nop
    csrr t1, minstret
    SAME t0, t1
    li t0, 77
    csrw minstret, t0
    csrr t1, minstret
    CHECK t1, 77
    csrwi mcountinhibit, 0
    csrr t1, minstret
    csrr t2, minstret
    CHECK t1, 77
    CHECK t2, 78
    csrwi mcountinhibit, -1 & 31
    csrr t0, mcountinhibit
    CHECK t0, 29
    csrwi mcountinhibit, 0

    CASE 5 # time is the CLINT's mtime
    li t2, CLINT + MTIME
    csrr t0, time
    ld t1, 0(t2)
    csrr t2, time
    bltu t1, t0, 1f
    bgeu t2, t1, 2f
1:  j fail

2:  CASE 6 # triggers do not exist
    csrw tselect, zero
    csrr t0, tselect
    CHECK t0, 0
    csrr t0, tdata1
    srli t0, t0, 60
    CHECK t0, 0

    CASE 7 # jumps into devices
    li a1, 0x10000000
    la s1, 1f
    jr a1
1:  CHECK s2, 1
    SAME s3, a1
    SAME s4, a1
    li a1, CLINT
    la s1, 1f
    jr a1
1:  CHECK s2, 1
    CASE 8 # mret to a lower mode clears MPRV, sret always does; QEMU 7.2 keeps it
    li t0, MSTATUS_MPRV
    csrs mstatus, t0
    ENTER 1
    TRAPS 9, ecall
    li t0, MSTATUS_MPRV
    and t0, s5, t0
    CHECK t0, 0
    CASE 9 # priorities: MSI, MTI, SSI; QEMU 7.2 takes the lowest number
    li t0, CLINT + MTIMECMP
    sd zero, 0(t0)
    li t0, CLINT
    li t1, 1
    sw t1, 0(t0)
    csrwi mip, 2
    li t1, 0x8a
    csrw mie, t1
    INTERRUPTED 3
    li t0, CLINT
    sw zero, 0(t0)
    INTERRUPTED 7
    li t0, CLINT + MTIMECMP
    li t1, -1
    sd t1, 0(t0)
    INTERRUPTED 1
    csrwi mip, 0
    csrw mie, zero

    CASE 10 # misaligned AMOs are store faults; QEMU says load
    la a0, area
    addi a1, a0, 2
    TRAPS_AT 6, a1, amoadd.w t0, t0, (a1)
    addi a1, a0, 4
    TRAPS_AT 6, a1, amoadd.d t0, t0, (a1)

    CASE 11 # AMOs that may not write are store faults, too
    li a1, HOLE
    TRAPS_AT 7, a1, amoadd.w t0, t0, (a1)

    CASE 12 # mepc and sepc have no bit 0; QEMU 7.2 keeps it
    li t0, 0x80000003
    csrw mepc, t0
    csrr t1, mepc
    CHECK t1, 0x80000002
    csrw sepc, t0
    csrr t1, sepc
    CHECK t1, 0x80000002

    CASE 13 # counters 3 to 31 count the event that is selected, and hold their value without one
    li t0, 1000
    csrw mhpmcounter3, t0
    nop
    csrr t1, mhpmcounter3
    CHECK t1, 1000
    csrwi mhpmevent3, 2
    csrr t1, mhpmcounter3
    nop
    csrr t2, mhpmcounter3
    CHECK t1, 1000
    CHECK t2, 1002
    csrw mhpmcounter31, zero
    csrwi mhpmevent31, 1
    csrr a0, minstret
    TRAPS 11, ecall
    csrr a1, mhpmcounter31
    csrr a2, minstret
    sub a2, a2, a0
    # Both count the instructions from the first read to the second; one also counts the exception.
    SAME a1, a2

    CASE 14 # a change between two events keeps the value and misses no count
    csrw mhpmcounter4, zero
    csrwi mhpmevent4, 2
    csrwi mhpmevent4, 1
    csrr t1, mhpmcounter4
    CHECK t1, 1
    csrwi mhpmevent4, 7
    csrr t1, mhpmcounter4
    nop
    csrr t2, mhpmcounter4
    SAME t1, t2

    CASE 15 # mcountinhibit stops them, a write of the same value disturbs nothing
    csrwi mhpmevent5, 2
    csrwi mcountinhibit, 0
    csrw mhpmcounter5, zero
    csrwi mcountinhibit, 0
    csrwi mcountinhibit, 0
    csrr t1, mhpmcounter5
    CHECK t1, 2
    li t0, 1 << 5
    csrw mcountinhibit, t0
    csrr t1, mhpmcounter5
    nop
    csrr t2, mhpmcounter5
    SAME t1, t2
    csrw mcountinhibit, zero

    CASE 16 # S and U read them through the enables
    csrw mcounteren, zero
    ENTER 1
    TRAPS 2, csrr t0, hpmcounter5
    li t0, 1 << 5
    csrw mcounteren, t0
    csrwi mhpmevent5, 0
    csrr t1, mhpmcounter5
    ENTER 1
    csrr t2, hpmcounter5
    LEAVE
    SAME t1, t2
    j pass

.balign 8
area: .zero 16

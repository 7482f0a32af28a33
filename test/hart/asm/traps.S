# Exceptions and interrupts: causes, tval, the mstatus stack, delegation, vectored entry, priorities, xret, wfi.
.include "macros.S"

main:
    CASE 1 # calls and their causes
    TRAPS 11, ecall
    CHECK s3, 0
    ENTER 1
    TRAPS 9, ecall
    ENTER 0
    TRAPS 8, ecall

    CASE 2 # breakpoints
    TRAPS 3, ebreak
    .option rvc
    TRAPS 3, c.ebreak
    .option norvc

    CASE 3 # illegal instructions show their bits
    TRAPS 2, .word 0
    CHECK s3, 0
    li t0, 0x0000007b
    TRAPS_AT 2, t0, .word 0x0000007b
    li t0, 0x00002003 | (7 << 12)
    TRAPS_AT 2, t0, .word 0x00007003
    li t0, 0x8000
    TRAPS_AT 2, t0, .half 0x8000, 0x0001

    CASE 4 # CSRs: absent, of higher privilege, read-only
    li t0, 0x8c0022f3
    TRAPS_AT 2, t0, csrr t0, 0x8c0
    TRAPS 2, csrw mhartid, zero
    TRAPS 2, csrw cycle, zero
    csrr t0, mhartid
    csrrs t0, mhartid, zero
    ENTER 1
    TRAPS 2, csrr t0, mstatus
    ENTER 0
    TRAPS 2, csrr t0, sstatus
    ENTER 0
    TRAPS 2, sret
    ENTER 0
    TRAPS 2, wfi
    ENTER 0
    TRAPS 2, sfence.vma
    ENTER 1
    TRAPS 2, mret

    CASE 5 # the stack of mstatus
    csrsi mstatus, MSTATUS_MIE
    TRAPS 11, ecall
    li t0, MSTATUS_MPP | MSTATUS_MIE | MSTATUS_MPIE
    and t1, s5, t0
    CHECK t1, MSTATUS_MPP | MSTATUS_MPIE
    csrci mstatus, MSTATUS_MIE
    TRAPS 11, ecall
    and t1, s5, t0
    CHECK t1, MSTATUS_MPP
    ENTER 0
    TRAPS 8, ecall
    and t1, s5, t0
    CHECK t1, MSTATUS_MPIE

    CASE 6 # delegated to S: trap, then sret
    li t0, 1 << 8
    csrw medeleg, t0
    la t0, in_s
    csrw stvec, t0
    li t0, MSTATUS_SPP | MSTATUS_SPIE
    csrs mstatus, t0
    csrsi mstatus, MSTATUS_SIE
    ENTER 0
    la s6, 1f
1:  ecall
    j 2f
.balign 4
in_s:
    csrr t0, scause
    CHECK t0, 8
    csrr t0, sepc
    SAME t0, s6
    csrr t0, stval
    CHECK t0, 0
    csrr t0, sstatus
    li t1, MSTATUS_SPP | MSTATUS_SPIE | MSTATUS_SIE
    and t0, t0, t1
    CHECK t0, MSTATUS_SPIE
    addi s6, s6, 4
    csrw sepc, s6
    sret
2:  TRAPS 2, csrr t0, sstatus # in U again
    csrw medeleg, zero
    csrr t0, mstatus
    andi t0, t0, MSTATUS_SIE
    CHECK t0, MSTATUS_SIE

    CASE 7 # software interrupt through the vector table; exceptions use its base
    la t0, vectors + 1
    csrw mtvec, t0
    csrwi mie, 8
    li t0, CLINT
    li t1, 1
    sw t1, 0(t0)
    li s7, 0
    INTERRUPTED 3
    CHECK s7, 3
    CHECK s3, 0
    li s7, 0
    TRAPS 11, ecall
    CHECK s7, 0
    li t0, CLINT
    sw zero, 0(t0)

    CASE 8 # timer interrupt
    li t0, CLINT + MTIMECMP
    sd zero, 0(t0)
    li t1, 0x80
    csrw mie, t1
    li s7, 0
    INTERRUPTED 7
    CHECK s7, 7

    # back to no timer
    li t0, CLINT + MTIMECMP
    li t1, -1
    sd t1, 0(t0)

    CASE 9 # a delegated interrupt waits for M to end, and comes in S with SIE, in U always
    csrwi mideleg, 2
    csrwi mie, 2
    csrwi mip, 2
    la t0, s_vectors + 1
    csrw stvec, t0
    csrsi mstatus, MSTATUS_MIE
    nop
    csrci mstatus, MSTATUS_MIE
    li s7, 0
    csrci mstatus, MSTATUS_SIE
    ENTER 1
    nop
    csrsi sstatus, MSTATUS_SIE
1:  beqz s7, 1b
    csrr t0, scause
    CHECK t0, (1 << 63) | 1
    csrci sstatus, MSTATUS_SIE
    LEAVE
    csrwi mip, 2
    li s7, 0
    ENTER 0
1:  beqz s7, 1b
    LEAVE
    csrw mie, zero
    csrw mideleg, zero

    CASE 10 # wfi falls through when something enabled is pending, MIE or not
    csrci mstatus, MSTATUS_MIE
    csrwi mie, 2
    csrwi mip, 2
    wfi
    csrwi mip, 0
    # ... and wakes for the timer
    li t0, 0x80
    csrw mie, t0
    li t0, CLINT + MTIME
    ld t1, 0(t0)
    addi t1, t1, 1000
    li t0, CLINT + MTIMECMP
    sd t1, 0(t0)
    wfi
    csrr t0, mip
    andi t0, t0, 0x80
    CHECK t0, 0x80

    CASE 11 # tvec modes 2 and 3 do not stick
    csrr t0, mtvec
    ori t1, t0, 3
    csrw mtvec, t1
    csrr t1, mtvec
    SAME t0, t1
    j pass

.balign 256
vectors:
    j trap_entry
.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    j vector_\n
.endr

.irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
vector_\n:
    li s7, \n
    j trap_entry
.endr

.balign 256
s_vectors:
    j fail
    j 1f
.rept 14
    j fail
.endr
1:  li s7, 1
    csrci sip, 2
    sret

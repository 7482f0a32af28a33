# Zicbom, Zicboz, Zicbop: who may, which permission of the block counts, and code under cbo.zero (Unpriv, "CMO"). Addresses
# of blocks are aligned here: QEMU reports the block's, the specification wants that of rs1 (emulator-only-cbo.S).
.include "macros.S"

.equ CBIE, 3 << 4
.equ CBCFE, 1 << 6
.equ CBZE, 1 << 7
.equ ALL, CBIE | CBCFE | CBZE
.equ WINDOW, 0x40000000
.equ RW, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D

# menvcfg and senvcfg; only these fields differ from zero in their low halves.
.macro MENVCFG bits
    li t0, ALL
    csrc menvcfg, t0
    li t0, \bits
    csrs menvcfg, t0
.endm
.macro SENVCFG bits
    li t0, \bits
    csrw senvcfg, t0
.endm

# In mode 0 = U or 1 = S, a0 = a block that may be written: legal or not.
.macro LEGAL mode, instruction:vararg
    ENTER \mode
    \instruction
    LEAVE
.endm
.macro ILLEGAL mode, instruction:vararg
    ENTER \mode
    TRAPS 2, \instruction
.endm

# The leaf of the window: the page of `data` with these bits.
.macro MAP bits
    la t0, leaves
    la t1, data
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, \bits
    sd t1, 0(t0)
    sfence.vma
.endm
.macro CHECK_LEAF mask, bits
    la t0, leaves
    ld t0, 0(t0)
    andi t0, t0, \mask
    CHECK t0, \bits
.endm

main:
    la a0, data + 64
    MENVCFG 0
    SENVCFG 0

    CASE 1 # M needs no permission; cbo.zero clears the block around its address and nothing else
    la t0, data
    li t1, 192
1:  li t2, 0x55
    sb t2, 0(t0)
    addi t0, t0, 1
    addi t1, t1, -1
    bnez t1, 1b
    addi a1, a0, 37
    cbo.zero (a1)
    cbo.clean (a1)
    cbo.flush (a1)
    li t1, 8
    mv t0, a0
1:  ld t2, 0(t0)
    CHECK t2, 0
    addi t0, t0, 8
    addi t1, t1, -1
    bnez t1, 1b
    li t1, 0x5555555555555555
    ld t2, -8(a0)
    SAME t2, t1
    ld t2, 64(a0)
    SAME t2, t1
    cbo.inval (a1)
    prefetch.i 0(zero)
    prefetch.r 32(zero)
    prefetch.w -2048(zero)

    CASE 2 # S: menvcfg decides, each field about its own instructions
    ILLEGAL 1, cbo.inval (a0)
    ILLEGAL 1, cbo.clean (a0)
    ILLEGAL 1, cbo.flush (a0)
    ILLEGAL 1, cbo.zero (a0)
    SENVCFG ALL
    ILLEGAL 1, cbo.zero (a0)
    SENVCFG 0
    MENVCFG CBZE
    LEGAL 1, cbo.zero (a0)
    ILLEGAL 1, cbo.clean (a0)
    ILLEGAL 1, cbo.inval (a0)
    MENVCFG CBCFE
    LEGAL 1, cbo.clean (a0)
    LEGAL 1, cbo.flush (a0)
    ILLEGAL 1, cbo.zero (a0)
    ILLEGAL 1, cbo.inval (a0)
    MENVCFG CBIE
    LEGAL 1, cbo.inval (a0)
    ILLEGAL 1, cbo.flush (a0)
    MENVCFG 1 << 4
    LEGAL 1, cbo.inval (a0)

    CASE 3 # U: both decide
    MENVCFG ALL
    ILLEGAL 0, cbo.inval (a0)
    ILLEGAL 0, cbo.clean (a0)
    ILLEGAL 0, cbo.flush (a0)
    ILLEGAL 0, cbo.zero (a0)
    SENVCFG CBZE
    LEGAL 0, cbo.zero (a0)
    ILLEGAL 0, cbo.clean (a0)
    SENVCFG CBCFE
    LEGAL 0, cbo.flush (a0)
    ILLEGAL 0, cbo.inval (a0)
    SENVCFG 1 << 4
    LEGAL 0, cbo.inval (a0)
    SENVCFG ALL
    LEGAL 0, cbo.zero (a0)
    MENVCFG 0
    ILLEGAL 0, cbo.zero (a0)
    ILLEGAL 0, cbo.inval (a0)
    MENVCFG ALL

    CASE 4 # code that has run hot with permission loses it
    la a2, hot
    li a3, 300
    ENTER 1
1:  jalr ra, a2
    addi a3, a3, -1
    bnez a3, 1b
    LEAVE
    MENVCFG CBIE | CBCFE
    la s1, 2f
    ENTER 1
    jalr ra, a2
    j fail
2:  CHECK s2, 2
    la t0, hot_zero
    SAME s4, t0
    MENVCFG ALL

    CASE 5 # code that has run hot is zeroed: it is not executed again
    la a2, victim
    li a3, 300
1:  jalr ra, a2
    addi a3, a3, -1
    bnez a3, 1b
    CHECK a1, 7
    addi t0, a2, 8
    cbo.zero (t0)
    fence.i
    la s1, 2f
    jalr ra, a2
    j fail
2:  CHECK s2, 2
    SAME s4, a2
    # and what is stored there afterwards is
    li t0, 0x00900593 # addi a1, zero, 9
    sw t0, 0(a2)
    li t0, 0x00008067 # ret
    sw t0, 4(a2)
    fence.i
    jalr ra, a2
    CHECK a1, 9

    CASE 6 # translation: a store for cbo.zero, a load or a store for the others
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    la t1, middle
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, PTE_V
    sd t1, 8(t0)
    la t2, middle
    la t1, leaves
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, PTE_V
    sd t1, 0(t2)
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    li a0, WINDOW + 128
    MAP RW
    ENTER 1
    cbo.zero (a0)
    cbo.inval (a0)
    cbo.clean (a0)
    cbo.flush (a0)
    LEAVE
    MAP PTE_V | PTE_R | PTE_A | PTE_D
    ENTER 1
    cbo.inval (a0)
    cbo.clean (a0)
    cbo.flush (a0)
    TRAPS_AT 15, a0, cbo.zero (a0)
    MAP 0
    ENTER 1
    prefetch.i 0(a0)
    prefetch.r 0(a0)
    prefetch.w 0(a0)
    TRAPS_AT 15, a0, cbo.zero (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.inval (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.clean (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.flush (a0)

    CASE 7 # the page of U, with and without SUM, and MPRV
    MAP RW | PTE_U
    ENTER 1
    TRAPS_AT 15, a0, cbo.clean (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.zero (a0)
    li t0, MSTATUS_SUM
    csrs mstatus, t0
    LEGAL 1, cbo.clean (a0)
    LEGAL 1, cbo.zero (a0)
    csrc mstatus, t0
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, MSTATUS_MPRV
    csrs mstatus, t0
    cbo.zero (a0)
    csrc mstatus, t0
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t1, 1 << 11
    csrs mstatus, t1
    li t0, MSTATUS_MPRV
    csrs mstatus, t0
    TRAPS_AT 15, a0, cbo.zero (a0)
    li t0, MSTATUS_MPRV
    csrc mstatus, t0

    CASE 8 # A and D: a load's for management, a store's for cbo.zero
    li t0, 1
    slli t0, t0, 61
    csrs menvcfg, t0
    MAP PTE_V | PTE_R | PTE_W
    LEGAL 1, cbo.flush (a0)
    CHECK_LEAF PTE_A | PTE_D, PTE_A
    LEGAL 1, cbo.zero (a0)
    CHECK_LEAF PTE_A | PTE_D, PTE_A | PTE_D

    CASE 9 # PMP: page 0 of `data` behind an entry of its own
    csrw satp, zero
    sfence.vma
    la a0, data + 128
    csrr t0, pmpaddr0
    csrw pmpaddr1, t0
    la t0, data
    srli t0, t0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x1f << 8 | 0x18
    csrw pmpcfg0, t0
    sfence.vma
    ENTER 1
    TRAPS_AT 7, a0, cbo.zero (a0)
    ENTER 1
    TRAPS_AT 7, a0, cbo.clean (a0)
    ENTER 0
    TRAPS_AT 7, a0, cbo.inval (a0)
    cbo.zero (a0)
    li t0, 0x1f << 8 | 0x19
    csrw pmpcfg0, t0
    sfence.vma
    LEGAL 1, cbo.clean (a0)
    LEGAL 0, cbo.inval (a0)
    ENTER 1
    TRAPS_AT 7, a0, cbo.zero (a0)
    j pass

hot:
    sd a3, 0(a0)
hot_zero:
    cbo.zero (a0)
    cbo.flush (a0)
    ld t0, 0(a0)
    bnez t0, 1f
    ret
1:  j fail

.balign 64
victim:
    li a1, 7
    ret
.balign 4096
root: .zero 4096
middle: .zero 4096
leaves: .zero 4096
data: .zero 4096

# Random PTEs at random levels, accessed in random modes: what happens is hashed, and the hash is printed every thousand
# rounds. There is no failing case; the output must be the same everywhere.
.include "macros.S"
.include "random.S"

.equ WINDOW, 0x40200000
.equ DATA, 0x80200000
.equ ROUNDS, 20000

# s10 = address of the PTE.

main:
    li t0, DATA
    li t1, DATA + 0x4000
    li t2, 0x0000007300000073 # two ecalls
1:  sd t2, 0(t0)
    addi t0, t0, 8
    bltu t0, t1, 1b
    la t0, root
    li t1, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 0(t0)
    li t1, 0x80000000 >> 2 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    la t1, root48
    srli t0, t0, 2
    ori t0, t0, PTE_V
    sd t0, 0(t1)
    SEED_RANDOM

round:
    RANDOM a0

    # a1 = low bits of the PTE; three times in four a plausible one
    andi a1, a0, 0x3ff
    srli t0, a0, 10
    andi t0, t0, 3
    beqz t0, 1f
    ori a1, a1, PTE_V | PTE_R
1:  srli t0, a0, 12
    andi t0, t0, 15
    bnez t0, 1f
    srli t0, a0, 16
    andi t0, t0, 7
    addi t0, t0, 54
    li t1, 1
    sll t1, t1, t0
    or a1, a1, t1
    # one page number in eight is off by one bit, inside the data's two megabytes
1:  srli t0, a0, 20
    andi t0, t0, 7
    bnez t0, 1f
    srli t0, a0, 24
    andi t0, t0, 7
    addi t0, t0, 10
    li t1, 1
    sll t1, t1, t0
    xor a1, a1, t1

    # the level
1:  la t3, root
    la t4, middle
    la t5, leaves
    srli t1, t4, 2
    ori t1, t1, PTE_V
    sd t1, 8(t3)
    srli t1, t5, 2
    ori t1, t1, PTE_V
    sd t1, 8(t4)
    srli t0, a0, 32
    li t1, 3
    remu t0, t0, t1
    li t1, DATA >> 2
    mv s10, t5
    beqz t0, 1f
    addi s10, t4, 8
    addi t0, t0, -1
    beqz t0, 1f
    addi s10, t3, 8
    li t1, 0x80000000 >> 2
1:  xor a1, a1, t1
    sd a1, 0(s10)

    # Sv39 and Sv48 in turn
    andi t0, s9, 1
    beqz t0, 1f
    la t3, root48
1:  addi t0, t0, 8
    slli t0, t0, 60
    srli t3, t3, 12
    or t0, t0, t3
    csrw satp, t0
    sfence.vma

    # a2 = va, rarely not canonical
    srli t0, a0, 40
    andi t0, t0, 0x7f8
    li a2, WINDOW
    or a2, a2, t0
    srli t0, a0, 51
    andi t0, t0, 31
    bnez t0, 1f
    li t0, 1 << 38
    or a2, a2, t0
1:
    # SUM, MXR and the mode
    li t0, MSTATUS_SUM | MSTATUS_MXR | MSTATUS_MPP
    csrc mstatus, t0
    srli t0, a0, 57
    andi t0, t0, 3
    slli t0, t0, 18
    csrs mstatus, t0
    srli t0, a0, 59
    andi t0, t0, 1
    slli t0, t0, 11
    csrs mstatus, t0

    li s2, 0
    li s3, 0
    li a3, 0
    la s1, after
    srli t1, a0, 60
    andi t1, t1, 3
    li t2, 2
    beq t1, t2, fetch
    li t0, MSTATUS_MPRV
    csrs mstatus, t0
    li t0, 0x0000007300000073
    beqz t1, 1f
    li t2, 3
    bne t1, t2, 2f
    ld a3, 0(a2)
2:  sd t0, 0(a2)
    j after
1:  ld a3, 0(a2)
    j after
fetch:
    csrw mepc, a2
    mret
after:
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    li s1, 0
    HASH s2
    HASH s3
    HASH a3
    ld t0, 0(s10)
    HASH t0
    NEXT_ROUND round, ROUNDS
    j pass

.balign 4096
root: .zero 4096
root48: .zero 4096
middle: .zero 4096
leaves: .zero 4096

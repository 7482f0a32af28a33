# Code that changes: with fence.i the new instruction runs; without it the old or the new one, and nothing breaks.
.include "macros.S"

main:
    la a1, function
    li s8, 0x00000513 # li a0, 0
    li s9, 1 << 20
    li s10, 0

    CASE 1 # store, fence.i, call, two thousand times
1:  sw s8, 0(a1)
    fence.i
    jalr a1
    andi t0, s10, 0x7ff
    SAME a0, t0
    addi s10, s10, 1
    li t0, 2000
    add s8, s8, s9
    blt s10, t0, 1b

    CASE 2 # the loop that runs is changed under its own feet
    li s10, 0
    la a1, patched
    li t2, 0x00200513 # li a0, 2
patched:
    li a0, 1
    addi s10, s10, 1
    sw t2, 0(a1)
    fence.i
    li t0, 50
    blt s10, t0, patched
    CHECK a0, 2

    CASE 3 # without fence.i
    la a1, function
    li s10, 0
1:  andi t0, s10, 1
    slli t0, t0, 20
    li s8, 0x00000513
    add s8, s8, t0
    sw s8, 0(a1)
    jalr a1
    srli t0, a0, 1
    CHECK t0, 0
    addi s10, s10, 1
    li t0, 1000
    blt s10, t0, 1b

    CASE 4 # the store hits the very next instruction
    la a1, 1f
    li t0, 0x00300513 # li a0, 3
    li a0, 0
    sw t0, 0(a1)
1:  li a0, 4
    beqz a0, 2f
    fence.i
    j 3f
2:  j fail

    # The same page through a second, translated address: physical pages count.
3:  CASE 5
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    sd t1, 8(t0)
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    ENTER 1
    la a1, function
    li t0, 0x40000000
    sub a2, a1, t0
    jalr a1
    li t0, 0x00700513
    sw t0, 0(a2)
    fence.i
    jalr a1
    CHECK a0, 7
    jalr a2
    CHECK a0, 7
    LEAVE
    j pass

.balign 4096
function:
    li a0, 0
    ret
.balign 4096
root: .zero 4096

# Code in the shapes that the JIT treats specially: small callees, recursion, tables of jumps, jumps between functions, tiny loops,
# data next to code, code that appears above all data. Every case runs long enough to be compiled.
.include "macros.S"

.equ ROUNDS, 40000

main:
    la sp, stack_end

    CASE 1 # a leaf is called; its link register is what the caller set
    li s10, ROUNDS
    li s11, 0
1:  mv a0, s10
    jal ra, leaf
    add s11, s11, a0
    addi s10, s10, -1
    bnez s10, 1b
    li t0, 3 * (ROUNDS * (ROUNDS + 1) / 2) + ROUNDS
    SAME s11, t0

    CASE 2 # a callee that sometimes returns elsewhere
    li s10, ROUNDS
    li s11, 0
1:  mv a0, s10
    la a1, 3f
    jal ra, elsewhere
    addi s11, s11, 1
2:  addi s10, s10, -1
    bnez s10, 1b
    j 4f
3:  addi s11, s11, 1000
    j 2b
4:  li t0, ROUNDS - ROUNDS / 64 + 1000 * (ROUNDS / 64)
    SAME s11, t0

    CASE 3 # recursion
    li a0, 20
    jal ra, fib
    CHECK a0, 6765

    CASE 4 # a table of jumps, its cases in a small callee; then the table changes
    li s10, ROUNDS
    li s11, 0
1:  andi a0, s10, 7
    jal ra, choose
    add s11, s11, a0
    addi s10, s10, -1
    bnez s10, 1b
    li t0, ROUNDS / 8 * (10 + 20 + 30 + 40 + 4 * 99)
    SAME s11, t0
    la t0, table
    ld t1, 0(t0)
    la t2, outside
    sd t2, 0(t0)
    li a0, 0
    jal ra, choose
    CHECK a0, 77
    sd t1, 0(t0)
    li a0, 0
    jal ra, choose
    CHECK a0, 10

    CASE 5 # a jump to another function, which returns for both
    li s10, ROUNDS
    li s11, 0
1:  jal ra, outer
    add s11, s11, a0
    addi s10, s10, -1
    bnez s10, 1b
    li t0, ROUNDS * 6
    SAME s11, t0

    CASE 6 # tiny loops of every length around the number of repetitions
    li s10, 3000
1:  andi t0, s10, 63
    addi t0, t0, 1
    mv t2, t0
    li t1, 0
2:  addi t1, t1, 3
    addi t0, t0, -1
    bnez t0, 2b
    slli t3, t2, 1
    add t3, t3, t2
    SAME t1, t3
    addi s10, s10, -1
    bnez s10, 1b

    CASE 7 # stores of all widths and alignments around the ends of a page and of the last code page
    li s10, 3000
    la a1, page_end
1:  andi t0, s10, 15
    sub a2, a1, t0
    sd s10, 0(a2)
    ld t1, 0(a2)
    SAME t1, s10
    sw s10, 1(a2)
    lwu t1, 1(a2)
    SAME t1, s10
    sh s10, 3(a2)
    lhu t1, 3(a2)
    SAME t1, s10
    addi s10, s10, -1
    bnez s10, 1b

    CASE 8 # where nothing is, and at the end of addresses
    la s1, 1f
    li a1, HOLE
    ld t0, 0(a1)
    j fail
1:  CHECK s2, 5
    la s1, 2f
    li a1, -8
    sd t0, 0(a1)
    j fail
2:  CHECK s2, 7
    li s1, 0

    CASE 9 # code appears above the data while a compiled loop stores there
    li s9, 12
1:  la a1, high
    slli t0, s9, 12
    add a1, a1, t0
    li t1, 0x00150513 # addi a0, a0, 1
    li t2, 0x00008067 # ret
    li s10, 5000
2:  sw t1, 0(a1)
    sw t2, 4(a1)
    addi s10, s10, -1
    bnez s10, 2b
    fence.i
    li a0, 5
    li s10, 300
3:  jalr a1
    addi s10, s10, -1
    bnez s10, 3b
    CHECK a0, 305
    li t1, 0x00250513 # addi a0, a0, 2
    sw t1, 0(a1)
    fence.i
    li a0, 5
    jalr a1
    CHECK a0, 7
    addi s9, s9, -1
    bnez s9, 1b

    CASE 10 # a call through a register: one callee, then two in turn, then one returning elsewhere
    li s10, ROUNDS
    li s11, 0
    la s9, leaf
    la s8, outer
1:  mv a0, s10
    jalr s9
    add s11, s11, a0
    addi s10, s10, -1
    li t0, ROUNDS / 2
    bgtu s10, t0, 1b
    xor t0, s9, s8 # swaps s8 and s9
    mv s9, s8
    xor s8, s9, t0
    bnez s10, 1b
    la s9, elsewhere
    li a0, 64
    la a1, 2f
    jalr s9
    j fail
2:  li t0, (ROUNDS / 2) * (ROUNDS / 2) * 3 / 2
    sltu t0, t0, s11
    CHECK t0, 1

    j pass

leaf:
    slli t0, a0, 1
    add a0, a0, t0
    addi a0, a0, 1
    ret

elsewhere: # every 64th time to a1
    andi t0, a0, 63
    bnez t0, 1f
    mv ra, a1
1:  ret

fib:
    li t0, 2
    bltu a0, t0, 1f
    addi sp, sp, -32
    sd ra, 24(sp)
    sd s10, 16(sp)
    sd s11, 8(sp)
    mv s10, a0
    addi a0, a0, -1
    jal ra, fib
    mv s11, a0
    addi a0, s10, -2
    jal ra, fib
    add a0, a0, s11
    ld ra, 24(sp)
    ld s10, 16(sp)
    ld s11, 8(sp)
    addi sp, sp, 32
1:  ret

choose:
    li t0, 3
    bltu t0, a0, 5f
    slli a0, a0, 3
    la t0, table
    add a0, a0, t0
    ld a0, 0(a0)
    jr a0
1:  li a0, 10
    ret
2:  li a0, 20
    ret
3:  li a0, 30
    ret
4:  li a0, 40
    ret
5:  li a0, 99
    ret
.section .data
.balign 8
table: .dword 1b, 2b, 3b, 4b
.section .text

outside:
    li a0, 77
    ret

outer:
    li a0, 1
    addi a0, a0, 2
    j inner
    .balign 64
inner:
    slli a0, a0, 1
    ret

.section .bss
.balign 4096
    .space 4096
page_end:
    .space 4096
stack:
    .space 8192
stack_end:
.balign 4096
high:
    .space 16 * 4096

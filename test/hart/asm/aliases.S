# One address, several pages; one page, several addresses; address spaces that change under running code.
.include "macros.S"

.equ WINDOW, 0x40000000

main:
    # two address spaces that differ in the page at WINDOW; both map the rest one to one
.irp n, 1, 2
    la t0, root\n
    li t1, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 0(t0)
    li t1, 0x80000000 >> 2 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    la t1, middle\n
    srli t2, t1, 2
    ori t2, t2, PTE_V
    sd t2, 8(t0)
    la t2, leaves\n
    srli t0, t2, 2
    ori t0, t0, PTE_V
    sd t0, 0(t1)
    la t0, page\n
    srli t0, t0, 2
    ori t0, t0, PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t0, 0(t2)
    # the second page of each window is the first page of the other
    la t0, page\n
    la t1, page1
    la t2, page2
    xor t0, t0, t1
    xor t0, t0, t2
    srli t0, t0, 2
    ori t0, t0, PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    la t2, leaves\n
    sd t0, 8(t2)
    la t0, root\n
    srli t0, t0, 12
    li t1, (8 << 60) | (\n << 44)
    or s9, t0, t1
    .if \n == 1
    mv s11, s9
    .endif
.endr
    li a0, WINDOW
    li a1, WINDOW + 0x1000

    CASE 1 # code follows satp, with the address space number alone, a hundred times
    csrw satp, s11
    sfence.vma
    ENTER 1
    li s8, 100
1:  csrw satp, s11
    jalr a0
    CHECK a2, 1
    jalr a1
    CHECK a2, 2
    csrw satp, s9
    jalr a0
    CHECK a2, 2
    jalr a1
    CHECK a2, 1
    addi s8, s8, -1
    bnez s8, 1b

    CASE 2 # data follows, too
    csrw satp, s11
    lw t0, 0(a0)
    csrw satp, s9
    lw t1, 0(a1)
    SAME t0, t1
    lw t1, 0(a0)
    bne t0, t1, 1f
    j fail

    CASE 3 # a PTE that changes under one address: sfence.vma, call
1:  li s8, 100
    la t3, leaves2
1:  ld t0, 0(t3)
    ld t1, 8(t3)
    sd t1, 0(t3)
    sd t0, 8(t3)
    sfence.vma
    jalr a0
    mv s10, a2
    jalr a1
    add t0, a2, s10
    CHECK t0, 3
    # 100 is even: the first exchange puts page 1 at a0
    andi t0, s8, 1
    addi t0, t0, 1
    SAME t0, s10
    addi s8, s8, -1
    bnez s8, 1b

    CASE 4 # writing code through one address, running it through another, with fence.i
    li s8, 50
1:  slli t0, s8, 20
    li t1, 0x00000613 # li a2, 0
    or t0, t0, t1
    la t2, page1
    sw t0, 0(t2)
    fence.i
    jalr a0
    mv s10, a2
    jalr a1
    beq s10, s8, 2f
    SAME a2, s8
2:  addi s8, s8, -1
    bnez s8, 1b
    LEAVE
    csrw satp, zero

    CASE 5 # jump targets: bit 0 is ignored, bit 1 is an address
    la t0, 1f
    addi t0, t0, 1
    jr t0
    j fail
1:  la t0, 1f
    jr t0
    .option rvc
    .option push
    c.nop
1:  c.j 2f
    .option pop
    .option norvc
    j fail
    .balign 4
2:
    CASE 6 # misa may refuse changes, but not break
    csrr t0, misa
    csrci misa, 4
    csrw misa, t0
    csrr t1, misa
    SAME t0, t1

    CASE 7 # addresses with the top bit set: access faults in M
    li a0, 1 << 63
    TRAPS 5, ld t0, 0(a0)
    TRAPS 7, sd t0, 0(a0)
    la s1, 1f
    jr a0
1:  CHECK s2, 1
    j pass

.balign 4096
page1:
    li a2, 1
    ret
.balign 4096
page2:
    li a2, 2
    ret
.balign 4096
root1: .zero 4096
root2: .zero 4096
middle1: .zero 4096
middle2: .zero 4096
leaves1: .zero 4096
leaves2: .zero 4096

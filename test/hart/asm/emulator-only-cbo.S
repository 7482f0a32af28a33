# What the specification of the CMOs says and QEMU 10 does differently. Only on this emulator.
.include "macros.S"

.equ CBIE_SHIFT, 4
.equ ALL, 3 << 4 | 1 << 6 | 1 << 7
.equ WINDOW, 0x40000000

main:
    li t0, ALL
    csrs menvcfg, t0
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_A
    sd t1, 24(t0)
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li a0, WINDOW + 0x1225

    CASE 1 # tval is the effective address, the value of rs1
    ENTER 1
    TRAPS_AT 15, a0, cbo.zero (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.clean (a0)
    ENTER 1
    TRAPS_AT 15, a0, cbo.inval (a0)
    csrw satp, zero
    sfence.vma
    li a1, HOLE + 0x25
    TRAPS_AT 7, a1, cbo.zero (a1)

    CASE 2 # management of a place where neither a load nor a store can succeed
    TRAPS_AT 7, a1, cbo.clean (a1)
    TRAPS_AT 7, a1, cbo.flush (a1)
    TRAPS_AT 7, a1, cbo.inval (a1)
    li a1, CLINT
    cbo.clean (a1)

    CASE 3 # translation permits a load, PMP nothing: access fault; a store would page-fault
    csrr t0, pmpaddr0
    csrw pmpaddr1, t0
    la t0, data
    srli t0, t0, 2
    ori t0, t0, 0x1ff
    csrw pmpaddr0, t0
    li t0, 0x1f << 8 | 0x18
    csrw pmpcfg0, t0
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    la a1, data + 5
    li t0, 0x40000000
    add a1, a1, t0
    ENTER 1
    TRAPS_AT 7, a1, cbo.clean (a1)
    ENTER 1
    TRAPS_AT 15, a1, cbo.zero (a1)

    CASE 4 # the reserved value of CBIE is not stored
    li t0, 3 << CBIE_SHIFT
    csrc menvcfg, t0
    li t0, 1 << CBIE_SHIFT
    csrs menvcfg, t0
    csrr t0, menvcfg
    xori t0, t0, 3 << CBIE_SHIFT # 1 would become 2
    csrw menvcfg, t0
    csrr t0, menvcfg
    andi t0, t0, 3 << CBIE_SHIFT
    CHECK t0, 1 << CBIE_SHIFT
    j pass

.balign 4096
root: .zero 4096
data: .zero 4096

# For programs about the bits of a leaf PTE: one page of data at WINDOW, behind tables that they write.
# They define `root`, `middle`, `leaves` and `data`.

.equ WINDOW, 0x40000000
.equ PBMTE, 62
.equ NC, 61
.equ IO, 62

# Stores the PTE of a symbol with these bits, bit `high` set, in entry `index` of a table.
.macro MAP table, index, symbol, bits, high
    la t1, \symbol
    srli t1, t1, 12
    slli t1, t1, 10
    ori t1, t1, (\bits)
    .if \high
    li t2, 1
    slli t2, t2, \high
    or t1, t1, t2
    .endif
    la t0, \table
    li t2, 8 * (\index)
    add t0, t0, t2
    sd t1, 0(t0)
    sfence.vma
.endm

.macro SET_PBMTE
    li t0, 1
    slli t0, t0, PBMTE
    csrs menvcfg, t0
.endm

.macro CLEAR_PBMTE
    li t0, 1
    slli t0, t0, PBMTE
    csrc menvcfg, t0
.endm

.equ RW, PTE_V | PTE_R | PTE_W | PTE_A | PTE_D

# Sv39 with RAM behind itself and the table of leaves behind WINDOW; a0 = WINDOW, data holds 0x1234.
.macro OPEN_WINDOW
    la t0, root
    li t1, 0 << 10 | PTE_V | PTE_R | PTE_W | PTE_A | PTE_D
    sd t1, 0(t0)
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    MAP root, 1, middle, PTE_V, 0
    MAP middle, 0, leaves, PTE_V, 0
    la t0, root
    srli t0, t0, 12
    li t1, 8 << 60
    or t0, t0, t1
    csrw satp, t0
    sfence.vma
    li a0, WINDOW
    la t1, data
    li t0, 0x1234
    sd t0, 0(t1)
.endm

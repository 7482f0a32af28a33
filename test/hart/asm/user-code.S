# S does not execute code of U, also where SUM lets it read the page (Priv 10.3.1). QEMU 7.2 does after a load: its
# entry for the page has X, whatever the access that made it (docs/oracles.md). Newer ones agree.
.include "macros.S"
.include "window.S"

.equ CODE, PTE_V | PTE_R | PTE_W | PTE_X | PTE_U | PTE_A | PTE_D
.equ RET, 0x8067

main:
    OPEN_WINDOW
    la t0, data
    li t1, RET
    sw t1, 0(t0)
    MAP leaves, 0, data, CODE, 0
    li t0, MSTATUS_SUM
    csrs mstatus, t0

    CASE 1 # behind a load of S
    ENTER 1
    lw t0, 0(a0)
    la s1, 1f
    jalr a0
    j fail
1:  CHECK s2, 12
    SAME s3, a0
    SAME s4, a0
    CHECK t0, RET

    CASE 2 # behind a store of M as S
    sfence.vma
    li t1, RET
    li t0, MSTATUS_MPP
    csrc mstatus, t0
    li t0, MSTATUS_MPRV | 1 << 11
    csrs mstatus, t0
    sw t1, 0(a0)
    li t0, MSTATUS_MPRV
    csrc mstatus, t0
    ENTER 1
    la s1, 2f
    jalr a0
    j fail
2:  CHECK s2, 12
    SAME s4, a0

    CASE 3 # U does execute it, and S on the same page of RAM without U
    li t0, MSTATUS_SUM
    csrc mstatus, t0
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_U | PTE_A | PTE_D
    sd t1, 16(t0)
    sfence.vma
    ENTER 0
    jalr a0
    LEAVE
    la t0, root
    li t1, 0x80000 << 10 | PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D
    sd t1, 16(t0)
    MAP leaves, 0, data, CODE - PTE_U, 0
    ENTER 1
    jalr a0
    LEAVE
    csrw satp, zero
    sfence.vma
    j pass

.balign 4096
root: .zero 4096
middle: .zero 4096
leaves: .zero 4096
data: .zero 4096

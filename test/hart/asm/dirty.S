# A floating-point instruction that traps has changed nothing, so FS stays as it was (Priv 3.1.6.6).
.include "macros.S"

.equ INITIAL, 1 << 13
.equ CLEAN, 2 << 13

.macro SET_FS value
    li t6, MSTATUS_FS
    csrc mstatus, t6
    li t6, \value
    csrs mstatus, t6
.endm

# FS when the last trap was taken.
.macro FS_WAS value
    li t6, MSTATUS_FS
    and s5, s5, t6
    CHECK s5, \value
.endm

.macro FS_IS value
    csrr t5, mstatus
    li t6, MSTATUS_FS
    and t5, t5, t6
    CHECK t5, \value
.endm

.macro KEEPS cause, instruction:vararg
    SET_FS INITIAL
    TRAPS \cause, \instruction
    FS_WAS INITIAL
    SET_FS CLEAN
    TRAPS \cause, \instruction
    FS_WAS CLEAN
.endm

main:
    li a0, HOLE
    la a1, data
    # Twice, so that the second round meets decoded instructions.
    li s10, 2
again:
    CASE 1 # loads of a hole
    KEEPS 5, flw fa0, 0(a0)
    KEEPS 5, fld fa0, 0(a0)
    CASE 2 # the compressed one
    .option push
    .option rvc
    KEEPS 5, c.fld fa0, 0(a0)
    .option pop
    .balign 4
    CASE 3 # a rounding mode that does not exist, in the instruction and in frm
    KEEPS 2, .word 0x00b55553 # fadd.s fa0, fa0, fa1 with rm = 5
    KEEPS 2, .word 0x02b56553 # fadd.d with rm = 6
    KEEPS 2, .word 0xd2055553 # fcvt.d.w fa0, a0 with rm = 5
    csrwi frm, 5
    KEEPS 2, fadd.s fa0, fa0, fa1
    KEEPS 2, fmadd.d fa0, fa0, fa1, fa2
    KEEPS 2, fsqrt.s fa0, fa1
    KEEPS 2, fcvt.w.s t0, fa1
    KEEPS 2, .word 0xd2057553 # fcvt.d.w fa0, a0, dyn
    KEEPS 2, .word 0x4205f553 # fcvt.d.s fa0, fa1, dyn
    SET_FS MSTATUS_FS
    TRAPS 2, .word 0xd2057553
    TRAPS 2, .word 0x4205f553
    TRAPS 2, fadd.s fa0, fa0, fa1
    csrwi frm, 0
    CASE 4 # stores
    KEEPS 7, fsd fa0, 0(a0)
    CASE 5 # what succeeds makes it dirty
    SET_FS INITIAL
    fld fa0, 0(a1)
    FS_IS MSTATUS_FS
    SET_FS CLEAN
    flw fa0, 0(a1)
    FS_IS MSTATUS_FS
    SET_FS CLEAN
    fadd.s fa0, fa0, fa1
    FS_IS MSTATUS_FS
    SET_FS CLEAN
    fld fa0, 3(a1)
    FS_IS MSTATUS_FS
    SET_FS CLEAN
    fsd fa0, 0(a1)
    FS_IS CLEAN
    CASE 6 # from a device, whose read leaves the fast path
    li t0, CLINT + MTIME
    SET_FS CLEAN
    fld fa0, 0(t0)
    FS_IS MSTATUS_FS
    addi s10, s10, -1
    bnez s10, again
    j pass

.balign 8
data: .dword 0, 0

/*
 * Copies between kernel and user memory. sstatus.SUM is on only inside these loops. A fault that
 * mm/fault.c cannot resolve continues at the fix-up of the exception table, with a2 = bytes not yet
 * copied.
 */
#include "mm/guarded.h"

/* size_t user_copy(void *dst, const void *src, size_t n): one side is user memory */
.text
.globl user_copy
user_copy:
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    or t0, a0, a1
    andi t0, t0, 7
    bnez t0, 2f
    li t1, 32
1:  bltu a2, t1, 3f
    GUARDED ld t2, 0(a1)
    GUARDED ld t3, 8(a1)
    GUARDED ld t4, 16(a1)
    GUARDED ld t5, 24(a1)
    GUARDED sd t2, 0(a0)
    GUARDED sd t3, 8(a0)
    GUARDED sd t4, 16(a0)
    GUARDED sd t5, 24(a0)
    addi a0, a0, 32
    addi a1, a1, 32
    addi a2, a2, -32
    j 1b
3:  li t1, 8
4:  bltu a2, t1, 2f
    GUARDED ld t2, 0(a1)
    GUARDED sd t2, 0(a0)
    addi a0, a0, 8
    addi a1, a1, 8
    addi a2, a2, -8
    j 4b
2:  beqz a2, user_copy_fixup
5:  GUARDED lbu t2, 0(a1)
    GUARDED sb t2, 0(a0)
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    bnez a2, 5b
.globl user_copy_fixup
user_copy_fixup:
    li t6, SSTATUS_SUM
    csrc sstatus, t6
    mv a0, a2
    ret

/* size_t user_clear(void *dst, size_t n): returns bytes not cleared */
.globl user_clear
user_clear:
    mv a2, a1
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    beqz a2, user_copy_fixup
1:  GUARDED sb zero, 0(a0)
    addi a0, a0, 1
    addi a2, a2, -1
    bnez a2, 1b
    j user_copy_fixup

/* long user_strcpy(char *dst, const char *src, size_t max): length, max when no NUL, -1 on fault */
.globl user_strcpy
user_strcpy:
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    mv t0, a0
    mv t1, a2
    li a2, -1
1:  beqz t1, 2f
    GUARDED lbu t2, 0(a1)
    sb t2, 0(a0)
    beqz t2, 2f
    addi a0, a0, 1
    addi a1, a1, 1
    addi t1, t1, -1
    j 1b
2:  sub a2, a0, t0
    j user_copy_fixup

/* long user_load32(const u32 *addr, u32 *value): one load; 0, or -1 on fault */
.globl user_load32
user_load32:
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    li a2, -1
    GUARDED lw t0, 0(a0)
    sw t0, 0(a1)
    li a2, 0
    j user_copy_fixup

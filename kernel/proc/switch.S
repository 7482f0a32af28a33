/* Switching kernel stacks, and the floating-point registers of user programs. */
#include "asm.h"

/* sd or ld of ra, sp and s0 to s11, in the order of struct context in the thread. */
.macro EACH_SAVED_REGISTER instruction, thread
    .set offset, THREAD_CTX
    .irp register, ra, sp, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    \instruction \register, offset(\thread)
    .set offset, offset + 8
    .endr
.endm

/* struct thread *swtch(prev, next): returns on next's stack the thread that was switched from. */
.globl swtch
swtch:
    EACH_SAVED_REGISTER sd, a0
    EACH_SAVED_REGISTER ld, a1
    mv tp, a1
    ret

/* First instructions of a new thread; a0 = the thread that was switched from. */
.globl thread_entry
thread_entry:
    li s0, 0
    call thread_main
    unimp

.option push
.option arch, +f, +d
/* void fp_save(struct fpstate *); 0x6000 is sstatus.FS = Dirty, which permits the accesses */
.globl fp_save
fp_save:
    li t0, 0x6000
    csrs sstatus, t0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fsd f\n, (8 * \n)(a0)
    .endr
    frcsr t1
    sw t1, 256(a0)
    ret

/* void fp_restore(const struct fpstate *) */
.globl fp_restore
fp_restore:
    li t0, 0x6000
    csrs sstatus, t0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld f\n, (8 * \n)(a0)
    .endr
    lw t1, 256(a0)
    fscsr t1
    ret
.option pop

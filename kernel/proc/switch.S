/* Switching kernel stacks, and the floating-point registers of user programs. */
#include "asm.h"

/* struct thread *swtch(prev, next): returns on next's stack the thread that was switched from. */
.globl swtch
swtch:
    sd ra, (THREAD_CTX + 0)(a0)
    sd sp, (THREAD_CTX + 8)(a0)
    sd s0, (THREAD_CTX + 16)(a0)
    sd s1, (THREAD_CTX + 24)(a0)
    sd s2, (THREAD_CTX + 32)(a0)
    sd s3, (THREAD_CTX + 40)(a0)
    sd s4, (THREAD_CTX + 48)(a0)
    sd s5, (THREAD_CTX + 56)(a0)
    sd s6, (THREAD_CTX + 64)(a0)
    sd s7, (THREAD_CTX + 72)(a0)
    sd s8, (THREAD_CTX + 80)(a0)
    sd s9, (THREAD_CTX + 88)(a0)
    sd s10, (THREAD_CTX + 96)(a0)
    sd s11, (THREAD_CTX + 104)(a0)
    ld ra, (THREAD_CTX + 0)(a1)
    ld sp, (THREAD_CTX + 8)(a1)
    ld s0, (THREAD_CTX + 16)(a1)
    ld s1, (THREAD_CTX + 24)(a1)
    ld s2, (THREAD_CTX + 32)(a1)
    ld s3, (THREAD_CTX + 40)(a1)
    ld s4, (THREAD_CTX + 48)(a1)
    ld s5, (THREAD_CTX + 56)(a1)
    ld s6, (THREAD_CTX + 64)(a1)
    ld s7, (THREAD_CTX + 72)(a1)
    ld s8, (THREAD_CTX + 80)(a1)
    ld s9, (THREAD_CTX + 88)(a1)
    ld s10, (THREAD_CTX + 96)(a1)
    ld s11, (THREAD_CTX + 104)(a1)
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

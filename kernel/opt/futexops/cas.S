/* cas.S: compare and exchange of a word of user memory. */
#include "mm/guarded.h"

.text
/* long user_cas32(u32 *addr, u32 expect, u32 desired, u32 *old): 0, or -1 on fault */
.globl user_cas32
user_cas32:
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    mv t3, a2
    li a2, -1
    sext.w a1, a1
1:  GUARDED lr.w.aqrl t0, (a0)
    bne t0, a1, 2f
    GUARDED sc.w.rl t1, t3, (a0)
    bnez t1, 1b
2:  sw t0, 0(a3)
    li a2, 0
    j user_copy_fixup

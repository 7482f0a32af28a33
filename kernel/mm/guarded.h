/* guarded.h: assembly that accesses user memory; a fault continues at the fix-up of uaccess.S. */
/* clang-format off */
#define SSTATUS_SUM 0x40000

.macro GUARDED insn:vararg
9:  \insn
    .pushsection .ex_table, "a"
    .balign 8
    .quad 9b, user_copy_fixup
    .popsection
.endm

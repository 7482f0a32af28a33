/* Where the hooks of kcov/hooks.S go without a device: context in t0, kind in a4. */
#include "asm.h"

    .section .text.kcov_hook_in_c, "ax", @progbits
    .globl kcov_hook_in_c
    .type kcov_hook_in_c, @function
kcov_hook_in_c:
    mv a2, t0
    mv a3, ra
    beqz a4, 1f
    tail kcov_record_cmp
1:  tail kcov_record_pc /* KCOV_HOOK_PC */
    .size kcov_hook_in_c, . - kcov_hook_in_c

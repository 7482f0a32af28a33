/*
 * The hooks of -fsanitize-coverage=trace-pc,trace-cmp: the compiler inserts a call into every basic
 * block and comparison. They run for each edge of the kernel, so they test in this order: does this
 * thread record, does its context record this kind, is there a device. Only then do they store
 * operands and return address to the device; without one, opt/kcovguest does the same in C.
 *
 * ra here is the address to record. The device path changes only t0 and t1. The instruction
 * sequences are fixed (no compression, no relaxation): an engine may recognise a call by its
 * address (hook table) and these bytes, and do the work inline.
 *
 *      ld   t0, THREAD_KCOV(tp)       live context, 0 = none
 *      beqz t0, out
 *      lw   t1, KCOV_CTX_MODE(t0)
 *      andi t1, t1, kinds
 *      beqz t1, out
 *      auipc+ld t1, kcov_device       kernel address of the device, 0 = none
 *      beqz t1, in C
 *      [sd  a0, ARG0(t1)  sd a1, ARG1(t1)]
 *      sd   ra, trigger(t1)
 * out: ret
 */
#include "asm.h"
#include "abi/kcov-device.h"

#ifdef CONFIG_COVERAGE_HOOKS
    .option norvc
    .option norelax

/*
 * Read by the device (KCOV_REG_HOOKS): entry points by kind, which HOOK adds, then the two values
 * that they use.
 */
    .section .rodata.kcov_hook_table, "a", @progbits
    .balign 8
    .globl kcov_hook_table
kcov_hook_table:

.macro HOOK name, kind, kinds, operands
    .section .text.\name, "ax", @progbits
    .balign 4
    .globl \name
    .type \name, @function
\name:
    ld t0, THREAD_KCOV(tp)
    beqz t0, 1f
    lw t1, KCOV_CTX_MODE(t0)
    andi t1, t1, \kinds
    beqz t1, 1f
0:  auipc t1, %pcrel_hi(kcov_device)
    ld t1, %pcrel_lo(0b)(t1)
    beqz t1, 2f
    .if \operands
    sd a0, KCOV_REG_ARG0(t1)
    sd a1, KCOV_REG_ARG1(t1)
    .endif
    sd ra, KCOV_REG_TRIGGER + 8 * \kind(t1)
1:  ret
2:  li a4, \kind
    tail kcov_hook_in_c
    .size \name, . - \name
    .section .rodata.kcov_hook_table, "a", @progbits
    .dword \name
.endm

    HOOK __sanitizer_cov_trace_pc, KCOV_HOOK_PC, KCOV_RECORD_ANY_PC, 0
    HOOK __sanitizer_cov_trace_cmp1, KCOV_HOOK_CMP1, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_cmp2, KCOV_HOOK_CMP2, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_cmp4, KCOV_HOOK_CMP4, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_cmp8, KCOV_HOOK_CMP8, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_const_cmp1, KCOV_HOOK_CONST_CMP1, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_const_cmp2, KCOV_HOOK_CONST_CMP2, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_const_cmp4, KCOV_HOOK_CONST_CMP4, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_const_cmp8, KCOV_HOOK_CONST_CMP8, KCOV_RECORD_ANY_CMP, 1
    HOOK __sanitizer_cov_trace_switch, KCOV_HOOK_SWITCH, KCOV_RECORD_ANY_CMP, 1

#ifndef CONFIG_KCOV_GUEST
    .section .text.kcov_hook_in_c, "ax", @progbits
kcov_hook_in_c:
    ret
#endif

/* Written once, at boot, before anything records. */
    .section .data.kcov_device, "aw", @progbits
    .balign 8
    .globl kcov_device
kcov_device:
    .dword 0

    .section .rodata.kcov_hook_table, "a", @progbits
    .dword THREAD_KCOV
    .dword kcov_device
#endif

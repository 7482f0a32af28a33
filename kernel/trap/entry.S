/*
 * The trap vector and the way back. Saves every register of the interrupted context in a struct
 * trapframe on the kernel stack, counts interrupt nesting and tells kcov about it before any
 * instrumented code runs, and calls trap_handle().
 *
 * sscratch is 0 while in the kernel and the current thread while in user mode.
 */
#include "asm.h"
#include "memlayout.h"

#define SSTATUS_SPP 0x100
#define SSTATUS_SUM 0x40000

.macro SAVE_REGISTERS
    sd ra, 0(sp)
    sd gp, 16(sp)
    sd t0, 32(sp)
    sd t1, 40(sp)
    sd t2, 48(sp)
    sd s0, 56(sp)
    sd s1, 64(sp)
    sd a0, 72(sp)
    sd a1, 80(sp)
    sd a2, 88(sp)
    sd a3, 96(sp)
    sd a4, 104(sp)
    sd a5, 112(sp)
    sd a6, 120(sp)
    sd a7, 128(sp)
    sd s2, 136(sp)
    sd s3, 144(sp)
    sd s4, 152(sp)
    sd s5, 160(sp)
    sd s6, 168(sp)
    sd s7, 176(sp)
    sd s8, 184(sp)
    sd s9, 192(sp)
    sd s10, 200(sp)
    sd s11, 208(sp)
    sd t3, 216(sp)
    sd t4, 224(sp)
    sd t5, 232(sp)
    sd t6, 240(sp)
.endm

.section .text.trap, "ax"
.balign 4
.globl trap_vector
trap_vector:
    csrrw tp, sscratch, tp
    bnez tp, trap_from_user

trap_from_kernel:
    csrrw tp, sscratch, tp /* tp = current thread again, sscratch = 0 */
    addi sp, sp, -TF_SIZE
    csrw sscratch, t0
    srli t0, sp, KSTACK_SHIFT
    andi t0, t0, 1 /* 0: sp has left the upper half of its slot */
    beqz t0, kstack_overflow
    csrrw t0, sscratch, zero
    SAVE_REGISTERS
    sd tp, TF_TP(sp)
    addi t0, sp, TF_SIZE
    sd t0, TF_SP(sp)
    j trap_common

trap_from_user:
    sd sp, THREAD_SCRATCH(tp)
    ld sp, THREAD_KERNEL_SP(tp)
    SAVE_REGISTERS
    ld t0, THREAD_SCRATCH(tp)
    sd t0, TF_SP(sp)
    csrrw t0, sscratch, zero
    sd t0, TF_TP(sp)
    li s0, 0 /* backtraces end here */

trap_common:
    li t0, SSTATUS_SUM
    csrrc t1, sstatus, t0
    csrr t2, sepc
    csrr s1, scause
    csrr t3, stval
    sd t1, TF_STATUS(sp)
    sd t2, TF_EPC(sp)
    sd s1, TF_CAUSE(sp)
    sd t3, TF_TVAL(sp)
    bltz s1, 1f
#ifdef CONFIG_KCOV
    andi t1, t1, SSTATUS_SPP
    beqz t1, 2f
    lla t0, __kcov_hooks_start
    lla t1, __kcov_hooks_end
    bltu t2, t0, 2f
    bgeu t2, t1, 2f
    li a0, 0
    call kcov_set_live /* a hook faulted: the code of the report must not record */
#endif
    j 2f
1:  ld t0, THREAD_CPU(tp)
    lw t1, CPU_INTR_DEPTH(t0)
    addi t1, t1, 1
    sw t1, CPU_INTR_DEPTH(t0)
#ifdef CONFIG_KCOV
    call kcov_irq_enter
#endif
2:  mv a0, sp
    call trap_handle
    bgez s1, trap_exit
    ld t0, THREAD_CPU(tp)
    lw t1, CPU_INTR_DEPTH(t0)
    addi t1, t1, -1
    sw t1, CPU_INTR_DEPTH(t0)
#ifdef CONFIG_KCOV
    call kcov_irq_leave
#endif

trap_exit: /* sp = frame, tp = current thread */
    ld t0, TF_STATUS(sp)
    andi t0, t0, SSTATUS_SPP
    bnez t0, restore
    mv a0, sp
    call trap_exit_to_user /* returns with interrupts off */
    csrw sscratch, tp
    ld tp, TF_TP(sp) /* a user context has its own tp, a kernel one keeps the current thread */

restore:
    ld t0, TF_STATUS(sp)
    ld t1, TF_EPC(sp)
    csrw sstatus, t0
    csrw sepc, t1
    ld ra, 0(sp)
    ld gp, 16(sp)
    ld t0, 32(sp)
    ld t1, 40(sp)
    ld t2, 48(sp)
    ld s0, 56(sp)
    ld s1, 64(sp)
    ld a0, 72(sp)
    ld a1, 80(sp)
    ld a2, 88(sp)
    ld a3, 96(sp)
    ld a4, 104(sp)
    ld a5, 112(sp)
    ld a6, 120(sp)
    ld a7, 128(sp)
    ld s2, 136(sp)
    ld s3, 144(sp)
    ld s4, 152(sp)
    ld s5, 160(sp)
    ld s6, 168(sp)
    ld s7, 176(sp)
    ld s8, 184(sp)
    ld s9, 192(sp)
    ld s10, 200(sp)
    ld s11, 208(sp)
    ld t3, 216(sp)
    ld t4, 224(sp)
    ld t5, 232(sp)
    ld t6, 240(sp)
    ld sp, TF_SP(sp)
    sret

/* trap_return(tf): returns to the context of tf and discards the rest of the stack. */
.globl trap_return
trap_return:
    mv sp, a0
    j trap_exit

/*
 * The kernel stack overflowed into its guard: there is no room for a frame, so the report runs on a
 * separate stack. Harts that overflow at the same time share it: one report may be garbled.
 */
kstack_overflow:
    addi a1, sp, TF_SIZE
    csrr a0, sepc
    mv a2, s0
    lla sp, overflow_stack_top
    call kstack_overflow_panic
    unimp

.section .bss.page_aligned, "aw", @nobits
.balign KSTACK_SLOT
    .skip KSTACK_SIZE
    .skip KSTACK_SIZE
overflow_stack_top:

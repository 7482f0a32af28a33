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

/* sd or ld of x1 to x31, each at its place in the frame, except for sp (x2) and tp (x4). */
.macro EACH_REGISTER instruction
    .irp n, 1,3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \instruction x\n, (8 * (\n - 1))(sp)
    .endr
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
    EACH_REGISTER sd
    sd tp, TF_TP(sp)
    addi t0, sp, TF_SIZE
    sd t0, TF_SP(sp)
    j trap_common

trap_from_user:
    sd sp, THREAD_SCRATCH(tp)
    ld sp, THREAD_KERNEL_SP(tp)
    EACH_REGISTER sd
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
    EACH_REGISTER ld
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

/* Entry of a bench image in M-mode (-bios none), and the trap handlers of the system workloads. */
    .section .text.start, "ax"
    .globl _start
_start:
    csrr t0, mhartid
    bnez t0, park
    la sp, stack_top
    li t0, 0x6000              /* FS = Dirty */
    csrs mstatus, t0
    li t0, -1                  /* PMP: everything to everyone */
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    la t0, unexpected
    csrw mtvec, t0
    call bench_main
park:
    wfi
    j park

    .balign 4
    .globl unexpected
unexpected:                    /* a trap that no workload asked for: fail with status 1 */
    li t0, 0x100000
    li t1, 0x13333
    sw t1, 0(t0)
    j park

/* An environment call: skip it and go back. Seven instructions, as small as a handler can be. */
    .balign 4
    .globl ecall_handler
ecall_handler:
    csrw mscratch, t0
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    csrr t0, mscratch
    addi a0, a0, 1
    mret

/* unsigned long in_user(unsigned long (*f)(void)): runs f in U-mode; f ends by ecall, a7 = 1. */
    .globl in_user
in_user:
    addi sp, sp, -16
    sd ra, 8(sp)
    sd s0, 0(sp)
    mv s0, sp
    la t0, user_end
    csrw mtvec, t0
    li t0, 0x1800
    csrc mstatus, t0           /* MPP = U */
    csrw mepc, a0
    la ra, user_return
    mret
user_return:
    li a7, 1
    ecall
    .balign 4
user_end:
    li t0, 1
    beq a7, t0, 1f
    j ecall_handler
1:  mv sp, s0
    ld s0, 0(sp)
    ld ra, 8(sp)
    addi sp, sp, 16
    ret

/* void to_supervisor(unsigned long satp): returns in S-mode with this satp. */
    .globl to_supervisor
to_supervisor:
    csrw satp, a0
    sfence.vma
    li t0, 0x1800
    csrc mstatus, t0
    li t0, 0x0800
    csrs mstatus, t0           /* MPP = S */
    li t0, -1
    csrw mcounteren, t0
    csrw mepc, ra
    mret

    .section .bss
    .balign 16
    .skip 65536
stack_top:

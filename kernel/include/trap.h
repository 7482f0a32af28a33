/*
 * Traps: the saved registers of an interrupted context and the handlers behind trap/entry.S.
 * The byte offsets are known to assembly.
 */
#pragma once
#include "types.h"

struct trapframe {
    u64 ra;      /*   0 */
    u64 sp;      /*   8 */
    u64 gp;      /*  16 */
    u64 tp;      /*  24 */
    u64 t0;      /*  32 */
    u64 t1;      /*  40 */
    u64 t2;      /*  48 */
    u64 s0;      /*  56 */
    u64 s1;      /*  64 */
    u64 a0;      /*  72 */
    u64 a1;      /*  80 */
    u64 a2;      /*  88 */
    u64 a3;      /*  96 */
    u64 a4;      /* 104 */
    u64 a5;      /* 112 */
    u64 a6;      /* 120 */
    u64 a7;      /* 128 */
    u64 s2;      /* 136 */
    u64 s3;      /* 144 */
    u64 s4;      /* 152 */
    u64 s5;      /* 160 */
    u64 s6;      /* 168 */
    u64 s7;      /* 176 */
    u64 s8;      /* 184 */
    u64 s9;      /* 192 */
    u64 s10;     /* 200 */
    u64 s11;     /* 208 */
    u64 t3;      /* 216 */
    u64 t4;      /* 224 */
    u64 t5;      /* 232 */
    u64 t6;      /* 240 */
    u64 epc;     /* 248 */
    u64 status;  /* 256: sstatus */
    u64 cause;   /* 264 */
    u64 tval;    /* 272 */
    u64 orig_a0; /* 280: a0 at system call entry, for restarting */
    u64 syscall; /* 288: number while in a system call, else -1 */
    u64 unused;  /* 296: keeps the frame a multiple of 16 */
};
_Static_assert(sizeof(struct trapframe) == 304, "trap/entry.S knows the frame size");

static inline bool trap_from_user(const struct trapframe *tf)
{
    return !(tf->status & (1UL << 8)); /* SSTATUS_SPP */
}

void trap_init_hart(void);
/* C side of the vector; entry.S has already counted interrupt nesting. */
void trap_handle(struct trapframe *tf);
/* Back to user mode with the registers in tf; does not return. */
__noreturn void trap_return(struct trapframe *tf);
__noreturn void kstack_overflow_panic(u64 pc, u64 sp, u64 fp);
/* Pending signals and rescheduling before user mode; runs with interrupts on. */
void trap_exit_to_user(struct trapframe *tf);

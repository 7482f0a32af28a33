/* Checks, at compile time, that the offsets assembly uses are those of the C structures. */
#include "asm.h"
#include "proc.h"
#include "trap.h"

#define CHECK(name, type, field)                                                                   \
    _Static_assert(name == offsetof(type, field), #name " is not the offset of " #field)

CHECK(THREAD_KERNEL_SP, struct thread, kernel_sp);
CHECK(THREAD_SCRATCH, struct thread, scratch);
CHECK(THREAD_CPU, struct thread, cpu);
CHECK(THREAD_CTX, struct thread, ctx);
CHECK(THREAD_KCOV, struct thread, kcov);
CHECK(CPU_INTR_DEPTH, struct cpu, intr_depth);
CHECK(CPU_INDEX, struct cpu, index);
CHECK(TF_RA, struct trapframe, ra);
CHECK(TF_SP, struct trapframe, sp);
CHECK(TF_GP, struct trapframe, gp);
CHECK(TF_TP, struct trapframe, tp);
CHECK(TF_T0, struct trapframe, t0);
CHECK(TF_S0, struct trapframe, s0);
CHECK(TF_A0, struct trapframe, a0);
CHECK(TF_EPC, struct trapframe, epc);
CHECK(TF_STATUS, struct trapframe, status);
CHECK(TF_CAUSE, struct trapframe, cause);
CHECK(TF_TVAL, struct trapframe, tval);
_Static_assert(TF_SIZE == sizeof(struct trapframe), "TF_SIZE");

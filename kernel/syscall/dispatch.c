/*
 * System-call dispatch: a7 is the number, a0..a5 the arguments, a0 the result (Linux/riscv64). The
 * table and the argument counts come from syscalls.def.
 */
#include "syscall.h"
#include "abi/errno.h"
#include "kcov.h"
#include "klib.h"
#include "proc.h"
#include "trap.h"

/* One adapter per call passes as many registers as the call takes. */
#define ARGS_0
#define ARGS_1 tf->orig_a0
#define ARGS_2 tf->orig_a0, tf->a1
#define ARGS_3 tf->orig_a0, tf->a1, tf->a2
#define ARGS_4 tf->orig_a0, tf->a1, tf->a2, tf->a3
#define ARGS_5 tf->orig_a0, tf->a1, tf->a2, tf->a3, tf->a4
#define ARGS_6 tf->orig_a0, tf->a1, tf->a2, tf->a3, tf->a4, tf->a5
#define SYSCALL(number, name, argc)                                                                \
    __nocov static long call_##name(const struct trapframe *tf)                                    \
    {                                                                                              \
        (void)tf;                                                                                  \
        return sys_##name(ARGS_##argc);                                                            \
    }
#include "syscall/syscalls.def"
#undef SYSCALL

static long (*const syscalls[])(const struct trapframe *tf) = {
#define SYSCALL(number, name, argc) [number] = call_##name,
#include "syscall/syscalls.def"
#undef SYSCALL
};

static bool is_restart(long result)
{
    return result <= -ERESTARTSYS && result >= -ERESTART_RESTARTBLOCK;
}

void syscall_dispatch(struct trapframe *tf)
{
    u64 number = tf->a7;
    long result = -ENOSYS;
    account_syscall(true);
    tf->orig_a0 = tf->a0;
    tf->syscall = number;
    kcov_syscall_enter(&current->kcov, number);
    if (number < ARRAY_LEN(syscalls) && syscalls[number])
        result = syscalls[number](tf);
    kcov_syscall_leave(&current->kcov);
    tf->a0 = (u64)result;
    if (!is_restart(result))
        tf->syscall = ~0UL; /* otherwise signal_deliver() decides what the program sees */
    account_syscall(false);
}

/* altstack.h: the alternate stack for handlers of signals. */
#pragma once

#include "opt/altstack/flags.h"
#include "proc.h"

/* The alternate stack of the current thread, whose stack pointer is sp */
#ifdef CONFIG_ALTSTACK
struct sigaltstack altstack_get(u64 sp); /* flags: SS_DISABLE, SS_ONSTACK or 0 */
long altstack_set(const struct sigaltstack *new, u64 sp);
u64 altstack_for(const struct k_sigaction *act, u64 sp); /* the stack pointer of its handler */
#else
static inline struct sigaltstack altstack_get(u64 sp)
{
    return (struct sigaltstack){.flags = SS_DISABLE};
}
static inline void altstack_set(const struct sigaltstack *new, u64 sp) {}
static inline u64 altstack_for(const struct k_sigaction *act, u64 sp)
{
    return sp;
}
#endif

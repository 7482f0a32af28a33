/*
 * System calls. kernel/syscall/syscalls.def has one line per call: SYSCALL(number, name, argc).
 * Handlers are ordinary functions of argc u64 arguments,
 *
 *     long sys_read(u64 fd, u64 buf, u64 count)
 *
 * that return a result or a negative errno. The line generates the prototype below and the row
 * of the dispatch table.
 */
#pragma once
#include "types.h"

#define SYSCALL_ARGS_0 void
#define SYSCALL_ARGS_1 u64
#define SYSCALL_ARGS_2 u64, u64
#define SYSCALL_ARGS_3 u64, u64, u64
#define SYSCALL_ARGS_4 u64, u64, u64, u64
#define SYSCALL_ARGS_5 u64, u64, u64, u64, u64
#define SYSCALL_ARGS_6 u64, u64, u64, u64, u64, u64

#define SYSCALL(number, name, argc) long sys_##name(SYSCALL_ARGS_##argc);
#include "syscall/syscalls.def"
#undef SYSCALL

struct trapframe;
void syscall_dispatch(struct trapframe *tf);

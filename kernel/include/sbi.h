/* Calls of the Supervisor Binary Interface (SBI 2.0). Errors are SBI's, not errnos. */
#pragma once
#include "types.h"

struct sbi_result {
    long error, value;
};

struct sbi_result sbi_call(u64 ext, u64 fn, u64 x0, u64 x1, u64 x2, u64 x3);
void sbi_set_timer(u64 when);
void sbi_send_ipi(u64 hart_mask, u64 hart_base);
void sbi_remote_sfence(u64 hart_mask, u64 hart_base, u64 start, u64 size);
long sbi_hart_start(u64 hartid, u64 start_pa, u64 opaque);
void sbi_console_putchar(int c);
void sbi_system_reset(u32 type, u32 reason);

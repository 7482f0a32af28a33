/* Calls to the firmware: SBI 2.0, chapters 4 to 10; the console is legacy extension 1. */
#include "sbi.h"

#define SBI_CONSOLE_PUTCHAR 0x01
#define SBI_TIME            0x54494d45
#define SBI_IPI             0x735049
#define SBI_RFENCE          0x52464e43
#define SBI_HSM             0x48534d
#define SBI_SRST            0x53525354

struct sbi_result sbi_call(u64 ext, u64 fn, u64 x0, u64 x1, u64 x2, u64 x3)
{
    register u64 a0 __asm__("a0") = x0;
    register u64 a1 __asm__("a1") = x1;
    register u64 a2 __asm__("a2") = x2;
    register u64 a3 __asm__("a3") = x3;
    register u64 a6 __asm__("a6") = fn;
    register u64 a7 __asm__("a7") = ext;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a6), "r"(a7) : "memory");
    return (struct sbi_result){(long)a0, (long)a1};
}

void sbi_set_timer(u64 when)
{
    sbi_call(SBI_TIME, 0, when, 0, 0, 0);
}

void sbi_send_ipi(u64 hart_mask, u64 hart_base)
{
    sbi_call(SBI_IPI, 0, hart_mask, hart_base, 0, 0);
}

void sbi_remote_sfence(u64 hart_mask, u64 hart_base, u64 start, u64 size)
{
    sbi_call(SBI_RFENCE, 1, hart_mask, hart_base, start, size);
}

long sbi_hart_start(u64 hartid, u64 start_pa, u64 opaque)
{
    return sbi_call(SBI_HSM, 0, hartid, start_pa, opaque, 0).error;
}

void sbi_console_putchar(int c)
{
    sbi_call(SBI_CONSOLE_PUTCHAR, 0, (u64)c, 0, 0, 0);
}

void sbi_system_reset(u32 type, u32 reason)
{
    sbi_call(SBI_SRST, 0, type, reason, 0, 0);
}

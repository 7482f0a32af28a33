/* kcov: not instrumented: also the end of a panic */
/*
 * Ends the machine and tells the host why, through the test finisher ("sifive,test0"): status 0 is
 * the word 0x5555, any other status s is (s << 16) | 0x3333. 1 to 255 is the exit status of init,
 * or 128 + n when signal n killed it. The kernel's own statuses have bits 15:8 set, so that the
 * host can tell them from a program that exits with the same number: STATUS_PANIC 0xff7e (126;
 * panic() has printed the reason) and STATUS_NO_INIT 0xff7f (127). Without a finisher the kernel
 * calls the SBI system reset.
 */
#include "boot.h"
#include "fdt.h"
#include "klib.h"
#include "memlayout.h"
#include "riscv.h"
#include "sbi.h"

#define FINISHER_PASS 0x5555
#define FINISHER_FAIL 0x3333

static volatile u8 *finisher;

void poweroff_init(void)
{
    u64 pa;
    int node = fdt_find_compatible("sifive,test0");
    if (node >= 0 && fdt_reg(node, 0, &pa, NULL))
        finisher = pa_to_va(pa);
}

void finisher_write(u32 word)
{
    if (finisher)
        mmio_write32(finisher, word);
}

void power_end(u32 word, u32 reset_type, u32 reason)
{
    irq_disable();
    finisher_write(word);
    sbi_system_reset(reset_type, reason);
    for (;;)
        wfi();
}

void power_off(int status)
{
    power_end(status ? (u32)(status & 0xffff) << 16 | FINISHER_FAIL : FINISHER_PASS, 0,
              status != 0);
}

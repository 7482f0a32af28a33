/*
 * rtc.c: the goldfish real-time clock, which sets CLOCK_REALTIME at boot.
 *
 * Registers: 0 TIME_LOW nanoseconds since 1970, low word; reading it latches 4 TIME_HIGH. The
 * alarm is not used: the kernel's own timers are exact.
 */
#include "abi/errno.h"
#include "driver.h"
#include "fdt.h"
#include "memlayout.h"
#include "riscv.h"
#include "timeout.h"

enum { TIME_LOW = 0x0, TIME_HIGH = 0x4 };

static void take_time(volatile u8 *regs)
{
    u64 low = mmio_read32(regs + TIME_LOW), high = mmio_read32(regs + TIME_HIGH);

    time_set_wall_ns(high << 32 | low);
}

/* At boot: files that the kernel makes before it probes drivers have the time too. */
void rtc_read(void)
{
    u64 pa;
    int node = fdt_find_compatible("google,goldfish-rtc");

    if (node >= 0 && fdt_reg(node, 0, &pa, NULL))
        take_time(pa_to_va(pa));
}

static int rtc_probe(struct device *dev)
{
    volatile u8 *regs = dev_ioremap(dev, 0);

    if (!regs)
        return -EBUSY;
    take_time(regs);
    return 0;
}

DRIVER(rtc){.match = MATCH_TREE("google,goldfish-rtc"), .probe = rtc_probe};

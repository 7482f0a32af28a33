/*
 * rtc.c: the goldfish real-time clock: where CLOCK_REALTIME starts.
 *
 * Registers: 0 TIME_LOW nanoseconds since 1970, low word; reading it latches 4 TIME_HIGH. The
 * alarm is not used: the kernel's own timers are exact.
 */
#include "dev.h"
#include "riscv.h"
#include "timeout.h"

enum { TIME_LOW = 0x0, TIME_HIGH = 0x4 };

static int rtc_probe(struct device *dev)
{
    u64 low = mmio_read32(dev->regs + TIME_LOW);
    u64 high = mmio_read32(dev->regs + TIME_HIGH);

    time_set_wall_ns(high << 32 | low);
    return 0;
}

const struct driver rtc_driver = {"rtc", "google,goldfish-rtc", rtc_probe};

/* bootinfo.c: what the boot took. */
#include "alloc.h"
#include "boot.h"
#include "klib.h"
#include "opt/bootinfo/flag.h"
#include "proc.h"
#include "riscv.h"

/*
 * "bootinfo" on the command line prints what the boot took. On kcovbox a tick is 100
 * instructions.
 */
void report_boot(void)
{
    extern char __text_start[], __text_end[], __kernel_start[], __kernel_end[];
    if (!cmdline_flag("bootinfo"))
        return;
    kprintf("boot: %lu ticks of 100 ns, text %lu KiB, image %lu KiB, free %lu of %lu KiB, "
            "%d harts\n",
            read_time() - boot_start, (u64)(__text_end - __text_start) >> 10,
            (u64)(__kernel_end - __kernel_start) >> 10, pages_free_count() << 2,
            pages_total_count() << 2, ncpus);
}

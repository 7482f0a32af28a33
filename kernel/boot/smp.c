/*
 * Several harts. cpus[0] is the hart that booted, the others follow in device tree order; each gets
 * an idle thread and starts at secondary_start through SBI HSM (SBI chapter 9).
 */
#include "boot.h"
#include "fdt.h"
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "sbi.h"
#include "trap.h"
#include "vm.h"

extern char secondary_start[];

struct thread *secondary_idle; /* idle thread of the hart that is starting; for boot/entry.S */

static int nfound = 1;

void smp_init(void)
{
    u64 limit = cmdline_get_u64("maxcpus", MAX_HARTS);
    for (int n = fdt_next_node(-1); n >= 0; n = fdt_next_node(n)) {
        const char *type = fdt_prop_string(n, "device_type");
        const char *status = fdt_prop_string(n, "status");
        if (!type || strcmp(type, "cpu") != 0 || (status && strcmp(status, "okay") != 0))
            continue;
        u32 hartid = fdt_prop_u32(n, "reg", 0);
        if (hartid == cpus[0].hartid || nfound >= MAX_HARTS || (u64)nfound >= limit)
            continue;
        cpus[nfound].hartid = hartid;
        cpus[nfound].index = (u32)nfound;
        nfound++;
    }
}

void smp_start(void)
{
    for (int i = 1; i < nfound; i++) {
        atomic_store(&secondary_idle, sched_make_idle(&cpus[i]));
        long error = sbi_hart_start(cpus[i].hartid, va_to_pa(secondary_start), 0);
        if (error) {
            kprintf("hart %lu does not start: sbi error %ld\n", cpus[i].hartid, error);
            continue;
        }
        while (!cpus[i].online)
            barrier();
        ncpus++;
    }
}

u64 harts_online(void)
{
    u64 mask = 0;
    for (int i = 0; i < MAX_HARTS; i++)
        mask |= cpus[i].online ? 1UL << i : 0;
    return mask;
}

void secondary_main(void)
{
    trap_init_hart();
    plic_init_hart();
    this_cpu()->online = true;
    sched_idle();
}

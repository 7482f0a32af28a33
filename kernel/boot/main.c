/*
 * The kernel's table of contents. kmain() runs once, on the boot hart, with one thread and no
 * interrupts; it ends as that hart's idle thread. Code that needs to sleep (drivers, file systems)
 * starts in the first process, proc/init.c.
 */
#include "boot.h"
#include "alloc.h"
#include "fdt.h"
#include "irq.h"
#include "kcov.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "taskq.h"
#include "timeout.h"
#include "trap.h"
#include "vm.h"

static void cmdline_init(void)
{
    const char *bootargs = fdt_prop_string(fdt_find_node("chosen"), "bootargs");
    if (bootargs)
        cmdline = bootargs;
}

u64 boot_start;

void kmain(u64 hartid, u64 fdt_pa)
{
    boot_start = read_time();
    sched_boot(hartid);         /* this context becomes a thread: boot/entry.S set tp */
    fdt_init(pa_to_va(fdt_pa)); /* the board, as the firmware describes it */
    cmdline_init();             /* what the user asked for */
    poweroff_init();            /* the test finisher: how the machine ends */
    trap_init_hart();           /* from here on faults reach trap_vector */
    random_init();              /* seeded: the same run every time */
    memory_init();              /* page allocator over free RAM */
    kmalloc_init();             /* small objects */
    kvm_init();                 /* kernel page table: text read-only, stacks with guards */
    smp_init();                 /* lists the harts of the device tree */
    plic_init();                /* external interrupts */
    plic_init_hart();
    proc_init();    /* pid 0, process table */
    timeout_init(); /* time and callouts */
    taskq_init();   /* deferred work in kernel threads */
    smp_start();    /* the other harts */
    init_start();   /* process 1: drivers, file systems, /init */
    sched_idle();
}

/* Starting and stopping the machine: boot/. */
#pragma once
#include "types.h"
#include "optional.h"

/* The initramfs as the boot loader left it in RAM; size 0 when there is none. Stays reserved. */
extern const void *initrd_start;
extern u64 initrd_size;

extern u64 boot_start; /* time counter at the start of kmain */
__noreturn void kmain(u64 hartid, u64 fdt_pa);
__noreturn void secondary_main(void);
void memory_init(void);
void smp_init(void);  /* lists the harts of the device tree in cpus[] */
void smp_start(void); /* and starts them */
void poweroff_init(void);
void finisher_write(u32 word);
/* With a word for the finisher; the others are for the SBI, if there is none. */
__noreturn void power_end(u32 word, u32 reset_type, u32 reason);

/*
 * An option's own start: init_main() calls it once, in a thread that may sleep, when the root file
 * system, /dev and the core's devices are there. In the order of linking, which is by path.
 */
#define INITCALL(fn)                                                                               \
    static void (*const initcall_##fn)(void)                                                       \
        __attribute__((used, section(".initcalls"), aligned(8))) = fn

/* opt/bootinfo */
OPTIONAL(CONFIG_BOOTINFO, void, report_boot, (void))

/* opt/fwcfg */
OPTIONAL(CONFIG_FW_CFG, void, take_program, (void))

/* opt/failinject: arms the current thread with fail_nth=N of the command line. */
OPTIONAL(CONFIG_FAULT_INJECTION, void, fail_first_program, (void))

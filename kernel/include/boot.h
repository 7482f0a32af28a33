/* Start and end of the machine's life: boot/. */
#pragma once
#include "types.h"

/* The initramfs as the boot loader left it in RAM; size 0 when there is none. Stays reserved. */
extern const void *initrd_start;
extern u64 initrd_size;

extern u64 boot_start; /* time counter at the start of kmain */
__noreturn void kmain(u64 hartid, u64 fdt_pa);
__noreturn void secondary_main(void);
void memory_init(void);
void smp_init(void);  /* names every hart of the device tree */
void smp_start(void); /* and starts them */
void poweroff_init(void);
void provoke_init(void);
void hungtask_init(void);
void tasks_show(void);
void fail_init(void);
void fail_first_program(void);

/*
 * Interrupts. External sources come through the PLIC (trap/plic.c); the timer and IPIs through SBI.
 * Handlers run with interrupts off, on the stack of the interrupted thread, and must not sleep.
 */
#pragma once
#include "types.h"

typedef void (*irq_handler)(u32 source, void *arg);

/*
 * PLIC source 1..127; several handlers may share a source. `name` appears in messages and must
 * stay valid. 0 or -EINVAL, -ENOMEM. A line that the handlers cannot lower is disabled.
 */
int irq_register(u32 source, const char *name, irq_handler handler, void *arg);
/* 0 in threads; n inside n nested interrupts of this hart. */
u32 irq_depth(void);

void plic_init(void);
void plic_init_hart(void);
void plic_dispatch(void);

/* Inter-processor interrupts: reasons are bits in the target's cpu->ipi_pending. */
enum ipi_reason { IPI_RESCHED = 1, IPI_STOP = 2, IPI_CALL = 4 };
struct cpu;
void ipi_send(struct cpu *target, enum ipi_reason why);
void ipi_handle(void);
/* Run fn on every hart of the set but this one, and wait. Interrupts on, no spinlock held. */
void ipi_call(u32 harts, void (*fn)(void *), void *arg);

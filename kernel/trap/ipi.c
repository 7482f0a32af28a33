/*
 * Inter-processor interrupts: a reason bit in the target's struct cpu and an SBI software
 * interrupt. IPI_CALL runs a function on other harts and waits for it. A waiting hart handles its
 * own IPIs, so that two harts that call each other do not deadlock.
 */
#include "irq.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "sbi.h"

static struct spinlock call_lock = SPINLOCK_INIT("ipi call");
static void (*call_fn)(void *);
static void *call_arg;
static volatile u32 call_pending;

void ipi_send(struct cpu *target, enum ipi_reason why)
{
    atomic_or(&target->ipi_pending, (u32)why);
    mb();
    sbi_send_ipi(1, target->hartid);
}

static __noreturn void stop_hart(void)
{
    irq_disable();
    for (;;)
        wfi();
}

void ipi_handle(void)
{
    struct cpu *cpu = this_cpu();
    u32 why = atomic_swap(&cpu->ipi_pending, 0);
    if (why & IPI_STOP)
        stop_hart();
    if (why & IPI_RESCHED)
        cpu->need_resched = true;
    if (why & IPI_CALL) {
        call_fn(call_arg);
        atomic_and(&call_pending, ~(1u << cpu->index));
    }
}

/* Handles IPIs while it spins, because the lock's holder may wait for this hart. */
static void lock_call(void)
{
    while (!spin_trylock(&call_lock))
        if (this_cpu()->ipi_pending)
            ipi_handle();
}

void ipi_call(u32 harts, void (*fn)(void *), void *arg)
{
    lock_call();
    harts &= ~(1u << this_cpu()->index);
    call_fn = fn;
    call_arg = arg;
    atomic_store(&call_pending, harts);
    for (u32 i = 0; i < MAX_HARTS; i++)
        if (harts & 1u << i)
            ipi_send(&cpus[i], IPI_CALL);
    while (atomic_load(&call_pending))
        if (this_cpu()->ipi_pending)
            ipi_handle();
    spin_unlock(&call_lock);
}

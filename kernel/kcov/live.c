/* kcov: not instrumented: runs inside trap entry and context switch */
/*
 * The context that the current thread records into at this moment. The hooks read
 * thread.kcov.live; the device's CURRENT register (or, without a device, the hart block itself)
 * mirrors it, so that RAM shows the same to the device, to a debugger and to a snapshot.
 *
 * Interrupts: entry saves live of the interrupted thread and clears it, exit restores it. The saved
 * values nest and belong to the thread, so a preempted handler stays untraced on another hart.
 */
#include "engine.h"
#include "riscv.h"
#include "fdt.h"
#include "remote.h"

#ifdef CONFIG_KCOV

extern const u64 kcov_hook_table[];
static struct kcov_hart kcov_harts[MAX_HARTS] __attribute__((aligned(sizeof(struct kcov_hart))));

static inline void device_write(u32 reg, u64 value)
{
    *(volatile u64 *)(kcov_device + reg) = value;
}

/* Interrupts are off. */
static inline void set_shadow(struct kcov_context *ctx)
{
    u64 pa = ctx ? va_to_pa(ctx) : 0;
    u64 *shadow = &kcov_harts[this_cpu()->index].context;

    if (*(volatile u64 *)shadow == pa)
        return;
    if (kcov_device)
        device_write(KCOV_REG_CURRENT, pa);
    else
        *(volatile u64 *)shadow = pa;
}

void kcov_set_live(struct kcov_context *ctx)
{
    bool on = irq_enabled();

    irq_disable();
    current->kcov.live = ctx;
    set_shadow(ctx);
    if (on)
        irq_enable();
}

void kcov_switch(struct thread *next)
{
    set_shadow(next->kcov.live);
}

void kcov_irq_enter(void)
{
    struct kcov_thread *k = &current->kcov;

    if (k->nest >= KCOV_NEST_MAX)
        panic("kcov: more than %d nested interrupts", KCOV_NEST_MAX);
    k->saved[k->nest++] = k->live;
    if (k->live) {
        k->live = NULL;
        set_shadow(NULL);
    }
}

void kcov_irq_leave(void)
{
    struct kcov_thread *k = &current->kcov;

    k->live = k->saved[--k->nest];
    set_shadow(k->live);
}

bool kcov_in_interrupt(void)
{
    return current->kcov.nest != 0;
}

void kcov_sched_enter(void)
{
    struct kcov_thread *k = &current->kcov;

    if (!kcov_dialect.mute_sched || k->sched_depth++)
        return;
    k->sched_saved = k->live;
    if (k->live)
        kcov_set_live(NULL);
}

void kcov_sched_leave(void)
{
    struct kcov_thread *k = &current->kcov;

    if (!kcov_dialect.mute_sched || --k->sched_depth)
        return;
    if (k->sched_saved)
        kcov_set_live(k->sched_saved);
}

/* Without a node, or with kcov=guest, the hooks take the C path. */
static void find_device(void)
{
    u64 pa, size;
    int node = fdt_find_compatible("kcovbox,kcov");

    if (node < 0 || !fdt_reg(node, 0, &pa, &size) || size < KCOV_REG_SIZE)
        return;
    volatile u64 *regs = pa_to_va(pa);
    if (regs[KCOV_REG_ID / 8] != KCOV_ID_VALUE) {
        kprintf("kcov: device has id %lx, not %lx; hooks run in C\n", regs[KCOV_REG_ID / 8],
                KCOV_ID_VALUE);
        return;
    }
    regs[KCOV_REG_HARTS / 8] = va_to_pa(kcov_harts);
    regs[KCOV_REG_KVA_OFFSET / 8] = LINEAR_BASE;
    regs[KCOV_REG_REMOTES / 8] = kcov_remote_table_pa();
    regs[KCOV_REG_HOOKS / 8] = va_to_pa(kcov_hook_table);
    mb();
    kcov_device = (u64)regs;
}

void kcov_init(void)
{
    char how[8] = "";
    bool given = cmdline_get("kcov", how, sizeof(how)) != NULL;

    if (given && !strcmp(how, "off"))
        return;
    if (!given || strcmp(how, "guest") != 0)
        find_device();
    if (!kcov_device && !HAS_OPTION(CONFIG_KCOV_GUEST)) {
        kprintf("kcov: no device, and no hooks in C (option KCOV_GUEST)\n");
        return;
    }
    if (kcov_dialect.add_node())
        kprintf("kcov: no node\n");
    if (kcov_dialect.init)
        kcov_dialect.init();
}
#endif

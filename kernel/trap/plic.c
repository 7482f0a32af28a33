/*
 * Platform-Level Interrupt Controller (PLIC 1.0.0): one S-mode context per hart. Every registered
 * source has priority 1 and is enabled on the boot hart only, so that drivers see one order of
 * events. Context numbers come from the device tree's interrupts-extended, because some boards have
 * no M-mode contexts.
 */
#include "irq.h"
#include "abi/errno.h"
#include "alloc.h"
#include "fdt.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "trap/plic.h"

#define PLIC_PRIORITY(src)     (4 * (src))
#define PLIC_ENABLE(ctx, word) (0x2000 + 0x80 * (ctx) + 4 * (word))
#define PLIC_THRESHOLD(ctx)    (0x200000 + 0x1000 * (ctx))
#define PLIC_CLAIM(ctx)        (0x200004 + 0x1000 * (ctx))

/*
 * The number of interrupts of one source in a row, without a step of the interrupted thread, after
 * which the line counts as stuck. Linux gives up after 100,000 unhandled ones (note_interrupt).
 */
#define IN_A_ROW_MAX 10000

struct irq_action *irq_actions[PLIC_SOURCES];
struct spinlock irq_lock = SPINLOCK_INIT("irq");
static volatile u8 *plic;
static u32 context_of[MAX_HARTS];

static u32 cell(const void *p)
{
    return __builtin_bswap32(*(const u32 *)p);
}

/* hartid whose interrupt controller has this phandle. */
static i64 hartid_of_intc(u32 phandle)
{
    u32 hartid = 0;
    for (int n = fdt_next_node(-1); n >= 0; n = fdt_next_node(n)) {
        if (strncmp(fdt_node_name(n), "cpu@", 4) == 0)
            hartid = fdt_prop_u32(n, "reg", 0);
        if (fdt_prop_u32(n, "phandle", 0) == phandle)
            return hartid;
    }
    return -1;
}

void plic_init(void)
{
    int node = fdt_find_compatible("riscv,plic0");
    if (node < 0)
        node = fdt_find_compatible("sifive,plic-1.0.0");
    u64 pa;
    if (node < 0 || !fdt_reg(node, 0, &pa, NULL))
        panic("no plic in the device tree");
    plic = pa_to_va(pa);
    u32 len;
    const u8 *pairs = fdt_prop(node, "interrupts-extended", &len);
    for (u32 ctx = 0; pairs && ctx < len / 8; ctx++) {
        if (cell(pairs + ctx * 8 + 4) != IRQ_S_EXTERNAL)
            continue;
        i64 hartid = hartid_of_intc(cell(pairs + ctx * 8));
        for (u32 i = 0; i < MAX_HARTS; i++)
            if ((i64)cpus[i].hartid == hartid)
                context_of[i] = ctx;
    }
}

void plic_init_hart(void)
{
    mmio_write32(plic + PLIC_THRESHOLD(context_of[this_cpu()->index]), 0);
}

void irq_set_enabled(u32 source, bool on)
{
    volatile u8 *reg = plic + PLIC_ENABLE(context_of[0], source / 32);
    u32 bits = mmio_read32(reg);
    mmio_write32(reg, on ? bits | 1u << source % 32 : bits & ~(1u << source % 32));
    mmio_write32(plic + PLIC_PRIORITY(source), on);
}

int irq_register(u32 source, const char *name, irq_handler handler, void *arg)
{
    if (source == 0 || source >= PLIC_SOURCES)
        return -EINVAL;
    struct irq_action *a = kmalloc(sizeof(*a));
    if (!a)
        return -ENOMEM;
    *a = (struct irq_action){.name = name, .fn = handler, .arg = arg};
    spin_lock(&irq_lock);
    a->next = irq_actions[source];
    atomic_store(&irq_actions[source], a); /* plic_dispatch follows the list without the lock */
    irq_set_enabled(source, true);
    spin_unlock(&irq_lock);
    return 0;
}

/*
 * Disables a line that no handler lowers: it would keep this hart here forever. The caller has
 * completed the source, because the PLIC ignores completion of a disabled source (PLIC chapter 9).
 * Registering a handler enables it again.
 */
static void silence(u32 source)
{
    struct irq_action *a = atomic_load(&irq_actions[source]);

    spin_lock(&irq_lock);
    irq_set_enabled(source, false);
    spin_unlock(&irq_lock);
    kprintf("irq %u (%s): %u interrupts in a row, the line is disabled\n", source,
            a ? a->name : "no driver", IN_A_ROW_MAX);
}

void plic_dispatch(void)
{
    volatile u8 *claim = plic + PLIC_CLAIM(context_of[this_cpu()->index]);
    u32 last = 0, in_a_row = 0;

    for (u32 source; (source = mmio_read32(claim)) != 0; last = source) {
        if (source >= PLIC_SOURCES)
            panic("interrupt from source %u, which does not exist", source);
        /* An empty list: the last handler was unregistered after the claim. */
        for (struct irq_action *a = atomic_load(&irq_actions[source]); a; a = atomic_load(&a->next))
            a->fn(source, a->arg);
        mmio_write32(claim, source);
        in_a_row = source == last ? in_a_row + 1 : 1;
        if (in_a_row == IN_A_ROW_MAX)
            silence(source);
    }
}

u32 irq_depth(void)
{
    return this_cpu()->intr_depth;
}

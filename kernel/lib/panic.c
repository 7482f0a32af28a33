/* kcov: not instrumented: a panic must not change what was recorded */
/*
 * Panic: stops the other harts, prints reason and backtrace, and powers off with the status of a
 * panic. Backtraces follow frame pointers (every function keeps one): at fp-8 the return address,
 * at fp-16 the caller's fp. A frame shows its return address; the name is looked up one byte
 * before, because a call to a noreturn function may be the last instruction of its caller.
 */
#include "irq.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "riscv.h"
#include "trap.h"

#define MAX_FRAMES 40

volatile bool panicking;

static void print_frame(u64 pc, u64 lookup)
{
    u64 start = 0;
    const char *name = symbol_at(lookup, &start);
    if (name)
        kprintf("  [<%016lx>] %s+0x%lx\n", pc, name, pc - start);
    else
        kprintf("  [<%016lx>]\n", pc);
}

static bool plausible_fp(u64 fp, u64 previous)
{
    bool in_vmap = fp >= VMAP_BASE && fp < VMAP_BASE + VMAP_SIZE;
    bool in_ram = fp >= KERNEL_LINK;
    return (fp & 7) == 0 && fp > previous && fp - previous < KSTACK_SLOT && (in_vmap || in_ram) &&
           ((fp - 16) >> KSTACK_SHIFT & 1);
}

void backtrace(u64 fp, u64 pc)
{
    kprintf("backtrace:\n");
    if (pc)
        print_frame(pc, pc);
    u64 previous = fp - 1;
    for (int i = 0; i < MAX_FRAMES && plausible_fp(fp, previous); i++) {
        u64 ra = *(u64 *)(fp - 8);
        if (!is_kernel_text(ra))
            break;
        print_frame(ra, ra - 1);
        previous = fp;
        fp = *(u64 *)(fp - 16);
    }
}

/* A panic while this hart panics: prints one line, unless that line already failed once. */
static __noreturn void panic_again(const struct trapframe *tf, const char *fmt, va_list ap)
{
    static bool tried;
    if (!tried) {
        tried = true;
        kprintf("panic: another one at %lx: ", tf ? tf->epc : 0);
        kvprintf(fmt, ap);
        kprintf("\n");
    }
    power_off(STATUS_PANIC);
}

static __noreturn void vpanic(const struct trapframe *tf, u64 fp, const char *fmt, va_list ap)
{
    irq_disable();
    if (panicking) {
        if (this_cpu()->noff == -1)
            panic_again(tf, fmt, ap);
        for (;;)
            wfi(); /* another hart panics and will power off */
    }
    panicking = true;
    this_cpu()->noff = -1;
    for (int i = 0; i < MAX_HARTS; i++)
        if (cpus[i].online && &cpus[i] != this_cpu())
            ipi_send(&cpus[i], IPI_STOP);
    kprintf("panic: hart %lu thread %d (%s): ", this_cpu()->hartid, current->tid, current->name);
    kvprintf(fmt, ap);
    kprintf("\n");
    if (tf)
        backtrace(tf->s0, tf->epc);
    else
        backtrace(fp, 0);
    power_off(STATUS_PANIC);
}

void panic(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vpanic(NULL, (u64)__builtin_frame_address(0), fmt, ap);
}

void panic_at(const struct trapframe *tf, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vpanic(tf, 0, fmt, ap);
}

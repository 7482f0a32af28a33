/*
 * The action of each trap cause (Priv §10.1.8): interrupts go to their handlers, system calls to
 * syscall/, page faults to mm/fault.c; other causes are a signal in user mode and a panic in the
 * kernel. A kernel fault at an instruction listed in the exception table (user copies, device
 * registers) continues at its fix-up.
 */
#include "trap.h"
#include "abi/errno.h"
#include "irq.h"
#include "opt/hwprobe/hart.h"
#include "klib.h"
#include "proc.h"
#include "riscv.h"
#include "syscall.h"
#include "vm.h"

extern char trap_vector[];

#define BUS_ERRORS_TOLD 10

struct ex_entry {
    u64 insn, fixup;
};
extern const struct ex_entry __ex_table_start[], __ex_table_end[];

static const char *const exception_names[16] = {
    [EXC_INSN_MISALIGNED] = "misaligned instruction",
    [EXC_INSN_ACCESS] = "instruction access fault",
    [EXC_ILLEGAL_INSN] = "illegal instruction",
    [EXC_BREAKPOINT] = "breakpoint",
    [EXC_LOAD_MISALIGNED] = "misaligned load",
    [EXC_LOAD_ACCESS] = "load access fault",
    [EXC_STORE_MISALIGNED] = "misaligned store",
    [EXC_STORE_ACCESS] = "store access fault",
    [EXC_INSN_PAGE_FAULT] = "instruction page fault",
    [EXC_LOAD_PAGE_FAULT] = "load page fault",
    [EXC_STORE_PAGE_FAULT] = "store page fault",
};

void trap_init_hart(void)
{
    csr_write(stvec, (u64)trap_vector);
    csr_write(sie, SIE_SSIE | SIE_STIE | SIE_SEIE);
    csr_write(scounteren, 7); /* programs may use rdtime, rdcycle and rdinstret, as on Linux */
    isa_init_hart();
}

static void interrupt_handle(u64 cause)
{
    switch (cause & ~SCAUSE_INTERRUPT) {
    case IRQ_S_TIMER:
        sched_tick();
        timeout_run(); /* programs the timer again */
        break;
    case IRQ_S_SOFT:
        csr_clear(sip, SIE_SSIE);
        ipi_handle();
        break;
    case IRQ_S_EXTERNAL:
        plic_dispatch();
        break;
    default:
        panic("unexpected interrupt %lu", cause & ~SCAUSE_INTERRUPT);
    }
    softirq_run();
}

static bool is_page_fault(u64 cause, u32 *access)
{
    switch (cause) {
    case EXC_INSN_PAGE_FAULT:
        *access = VM_EXEC;
        return true;
    case EXC_LOAD_PAGE_FAULT:
        *access = VM_READ;
        return true;
    case EXC_STORE_PAGE_FAULT:
        *access = VM_WRITE;
        return true;
    default:
        return false;
    }
}

static void user_page_fault(u64 va, u32 access)
{
    int error = vm_fault(curproc->vm, va, access);
    if (error == 0)
        return;
    if (error == -EIO)
        signal_fault(SIGBUS, BUS_ADRERR, va);
    else if (error == -ENOMEM && oom_kill())
        return;
    else if (error == -ENOMEM)
        signal_fault(SIGKILL, SI_KERNEL, va);
    else
        signal_fault(SIGSEGV, error == -EACCES ? SEGV_ACCERR : SEGV_MAPERR, va);
}

static void user_exception(struct trapframe *tf)
{
    u32 access;
    irq_enable();
    if (tf->cause == EXC_ECALL_U) {
        tf->epc += 4;
        syscall_dispatch(tf);
        return;
    }
    if (is_page_fault(tf->cause, &access)) {
        user_page_fault(tf->tval, access);
        return;
    }
    switch (tf->cause) {
    case EXC_ILLEGAL_INSN:
        signal_fault(SIGILL, ILL_ILLOPC, tf->epc);
        break;
    case EXC_BREAKPOINT:
        signal_fault(SIGTRAP, TRAP_BRKPT, tf->epc);
        break;
    default:
        signal_fault(SIGBUS, BUS_ADRALN, tf->tval);
    }
}

static u64 find_fixup(u64 epc)
{
    for (const struct ex_entry *e = __ex_table_start; e < __ex_table_end; e++)
        if (e->insn == epc)
            return e->fixup;
    return 0;
}

/* No device answered an access. Reports the first BUS_ERRORS_TOLD only, or they fill the log. */
static void bus_error(const struct trapframe *tf)
{
    static u32 told;
    u64 start = 0;
    const char *name = symbol_at(tf->epc, &start);

    if (atomic_add(&told, 1) <= BUS_ERRORS_TOLD)
        kprintf("bus error at %lx in %s+0x%lx\n", tf->tval, name ? name : "?", tf->epc - start);
}

/*
 * A user copy touched a page that is not mapped, or not yet; or a device did not answer (an access
 * of mmio_read32 and the like): then a read gives all ones, as from an empty slot.
 */
static bool kernel_fault_fixed(struct trapframe *tf)
{
    u32 access;
    u64 fixup = find_fixup(tf->epc);

    if (!fixup)
        return false;
    struct vm *vm = curproc ? curproc->vm : NULL;
    if (!is_page_fault(tf->cause, &access)) {
        bus_error(tf);
    } else if (tf->tval < USER_TOP && vm && !mutex_held(&vm->lock) && (tf->status & SSTATUS_SPIE)) {
        irq_enable();
        int error = vm_fault(vm, tf->tval, access);
        irq_disable();
        if (error == 0)
            return true;
    }
    tf->epc = fixup;
    return true;
}

static void kernel_exception(struct trapframe *tf)
{
    if (kernel_fault_fixed(tf))
        return;
    const char *name = tf->cause < 16 ? exception_names[tf->cause] : NULL;
    panic_at(tf, "%s in the kernel: address %p, pc %p", name ? name : "exception", (void *)tf->tval,
             (void *)tf->epc);
}

void trap_handle(struct trapframe *tf)
{
    if ((i64)tf->cause < 0)
        interrupt_handle(tf->cause);
    else if (trap_from_user(tf))
        user_exception(tf);
    else
        kernel_exception(tf);
}

void kstack_overflow_panic(u64 pc, u64 sp, u64 fp)
{
    struct trapframe at = {.epc = pc, .sp = sp, .s0 = fp};
    panic_at(&at, "kernel stack overflow in thread %d (%s): sp %p, pc %p", current->tid,
             current->name, (void *)sp, (void *)pc);
}

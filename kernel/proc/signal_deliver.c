/*
 * Delivering signals on the way to user mode: default actions, frames for handlers in the layout of
 * Linux/riscv64 (struct rt_sigframe: siginfo at 0, ucontext at 128), rt_sigreturn, and restarting
 * the system call that was interrupted.
 */
#include "abi/errno.h"
#include "klib.h"
#include "memlayout.h"
#include "proc.h"
#include "proc/internal.h"
#include "riscv.h"
#include "syscall.h"

/* Offsets from the start of the frame. */
struct user_context {
    u64 flags, link;          /* 128, 136 */
    struct sigaltstack stack; /* 144 */
    sigset_t mask;            /* 168 */
    u8 unused[1024 / 8 - sizeof(sigset_t)];
    u64 align;    /* the machine context is 16-byte aligned in Linux's layout */
    u64 pc;       /* 304 */
    u64 regs[31]; /* x1 .. x31 */
    u64 f[32];
    u32 fcsr;
    u32 fp_pad[3];
    u64 quad_pad[32]; /* the union is as large as the Q extension's state */
} __attribute__((aligned(16)));

struct signal_frame {
    siginfo_t info;
    struct user_context uc;
};
_Static_assert(offsetof(struct signal_frame, uc.pc) == 304, "ucontext layout of linux/riscv64");

/* struct trapframe begins with x1..x31 in order, as regs[] does. */
static void save_registers(struct user_context *uc, const struct trapframe *tf)
{
    uc->pc = tf->epc;
    memcpy(uc->regs, tf, sizeof(uc->regs));
    fp_sync();
    memcpy(uc->f, current->fp.f, sizeof(uc->f));
    uc->fcsr = current->fp.fcsr;
}

static void restore_registers(const struct user_context *uc, struct trapframe *tf)
{
    tf->epc = uc->pc;
    memcpy(tf, uc->regs, sizeof(uc->regs));
    memcpy(current->fp.f, uc->f, sizeof(uc->f));
    current->fp.fcsr = uc->fcsr;
    irq_push_off();
    this_cpu()->fp_owner = NULL;
    tf->status = (tf->status & ~SSTATUS_FS) | SSTATUS_FS_CLEAN;
    fp_first();
    irq_pop_off();
}

static va_t frame_address(const struct k_sigaction *act, const struct trapframe *tf)
{
    return ALIGN_DOWN(altstack_for(act, tf->sp) - sizeof(struct signal_frame), 16);
}

static sigset_t mask_to_save(void)
{
    return current->restore_blocked ? current->saved_blocked : current->blocked;
}

/* False if the frame cannot be written; the caller then ends the process with SIGSEGV. */
static bool push_frame(const struct k_sigaction *act, int sig, const siginfo_t *info,
                       struct trapframe *tf)
{
    struct signal_frame frame;
    va_t at = frame_address(act, tf);
    memset(&frame, 0, sizeof(frame));
    frame.info = *info;
    frame.uc.stack = altstack_get(tf->sp);
    frame.uc.mask = mask_to_save();
    save_registers(&frame.uc, tf);
    if (copyout(at, &frame, sizeof(frame)))
        return false;
    if (current->altstack.flags & SS_AUTODISARM) /* until sigreturn sets the saved one */
        current->altstack = (struct sigaltstack){.flags = SS_DISABLE};
    tf->ra = USER_TRAMPOLINE;
    tf->sp = at;
    tf->epc = act->handler;
    tf->a0 = (u64)sig;
    tf->a1 = at + offsetof(struct signal_frame, info);
    tf->a2 = at + offsetof(struct signal_frame, uc);
    return true;
}

static void run_handler(struct k_sigaction act, int sig, const siginfo_t *info,
                        struct trapframe *tf)
{
    if (!push_frame(&act, sig, info, tf)) {
        proc_exit_group(SIGSEGV);
    }
    spin_lock(&proc_lock);
    current->restore_blocked = false;
    current->blocked |= act.mask | (act.flags & SA_NODEFER ? 0 : SIGBIT(sig));
    current->blocked &= ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
    if (act.flags & SA_RESETHAND)
        curproc->sigacts->act[sig - 1].handler = SIG_DFL;
    spin_unlock(&proc_lock);
}

static void go_back_to_syscall(struct trapframe *tf)
{
    tf->a0 = tf->orig_a0;
    tf->epc -= 4;
}

/* handler: the one that runs next, or NULL. */
static void finish_syscall(struct trapframe *tf, const struct k_sigaction *handler)
{
    if (tf->syscall == ~0UL)
        return;
    switch (-(i64)tf->a0) {
    case ERESTARTSYS:
        if (handler && !(handler->flags & SA_RESTART))
            tf->a0 = (u64)-EINTR;
        else
            go_back_to_syscall(tf);
        break;
    case ERESTARTNOINTR:
        go_back_to_syscall(tf);
        break;
    case ERESTARTNOHAND:
    case ERESTART_RESTARTBLOCK:
        if (handler)
            tf->a0 = (u64)-EINTR;
        else
            go_back_to_syscall(tf);
        break;
    }
    tf->syscall = ~0UL;
}

static void default_action(int sig)
{
    switch (sig) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
        return;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        if (curproc != init_proc) /* nobody could continue it */
            stop_process(sig);
        return;
    default:
        proc_exit_group(sig); /* Divergence: no core files, so no 0x80 bit */
    }
}

/* A fault of the first process ends the run, so the console gets its place. */
static void report_init_fault(const siginfo_t *info, const struct trapframe *tf)
{
    bool fault = info->si_code > 0 && info->si_code != SI_KERNEL &&
                 SIGBIT(info->si_signo) & (SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGILL) |
                                           SIGBIT(SIGTRAP) | SIGBIT(SIGFPE));
    if (curproc == init_proc && fault)
        kprintf("init: %s: signal %d, code %d at pc %lx, address %lx\n", current->name,
                info->si_signo, info->si_code, tf->epc, info->fault.addr);
}

static int next_signal(siginfo_t *info, struct k_sigaction *act)
{
    spin_lock(&proc_lock);
    int sig = signal_take(current, signal_deliverable(current), info);
    if (sig)
        *act = *sigaction_of(curproc, sig);
    spin_unlock(&proc_lock);
    return sig;
}

void signal_deliver(struct trapframe *tf)
{
    siginfo_t info;
    struct k_sigaction act;
    wait_while_stopped();
    if (current->exiting)
        thread_exit(curproc->group_exit_status);
    int sig = next_signal(&info, &act);
    if (!sig) {
        finish_syscall(tf, NULL);
        signal_mask_end();
        return;
    }
    if (act.handler == SIG_DFL || act.handler == SIG_IGN) {
        if (act.handler == SIG_DFL) {
            report_init_fault(&info, tf);
            default_action(sig);
        }
        return; /* trap/exit.c calls again while a signal is pending */
    }
    finish_syscall(tf, &act);
    run_handler(act, sig, &info, tf);
}

long sys_rt_sigreturn(void)
{
    struct trapframe *tf = current->tf;
    struct signal_frame frame;
    if (copyin(&frame, tf->sp, sizeof(frame)))
        proc_exit_group(SIGSEGV);
    restore_registers(&frame.uc, tf);
    spin_lock(&proc_lock);
    current->blocked = frame.uc.mask & ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
    spin_unlock(&proc_lock);
    altstack_set(&frame.uc.stack, tf->sp); /* as on Linux, one that is not valid is ignored */
    tf->syscall = ~0UL; /* a0 belongs to the interrupted program: it is not a result */
    return (long)tf->a0;
}

/*
 * handlers.c: runs handlers of signals. Frames have the layout of Linux/riscv64 (struct
 * rt_sigframe: siginfo at 0, ucontext at 128).
 */
#include "klib.h"
#include "memlayout.h"
#include "opt/altstack/altstack.h"
#include "proc.h"
#include "opt/clone/clone.h"
#include "opt/signals/signals.h"
#include "riscv.h"
#include "syscall.h"
#include "opt/altstack/flags.h"

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

#define SA_RESTART   0x10000000UL
#define SA_NODEFER   0x40000000UL
#define SA_RESETHAND 0x80000000UL

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

void altstack_disable(struct thread *t)
{
    t->altstack = (struct sigaltstack){.flags = SS_DISABLE};
}

/* A new thread of the same address space has no alternate stack, or both would use one. */
void altstack_copy(struct thread *child, u64 clone_flags)
{
    if (!(clone_flags & CLONE_VM) || clone_flags & CLONE_VFORK)
        child->altstack = current->altstack;
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
        altstack_disable(current);
    tf->ra = USER_TRAMPOLINE;
    tf->sp = at;
    tf->epc = act->handler;
    tf->a0 = (u64)sig;
    tf->a1 = at + offsetof(struct signal_frame, info);
    tf->a2 = at + offsetof(struct signal_frame, uc);
    return true;
}

static void finish_syscall(struct trapframe *tf, const struct k_sigaction *handler)
{
    if (tf->syscall == ~0UL)
        return;
    switch (-(i64)tf->a0) {
    case ERESTARTSYS:
        if (handler->flags & SA_RESTART)
            go_back_to_syscall(tf);
        else
            tf->a0 = (u64)-EINTR;
        break;
    case ERESTARTNOINTR:
        go_back_to_syscall(tf);
        break;
    case ERESTARTNOHAND:
    case ERESTART_RESTARTBLOCK:
        tf->a0 = (u64)-EINTR;
        break;
    }
    tf->syscall = ~0UL;
}

void run_handler(struct k_sigaction act, int sig, const siginfo_t *info, struct trapframe *tf)
{
    finish_syscall(tf, &act);
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

/* altstack.c: sigaltstack(2). */
#include "abi/errno.h"
#include "opt/altstack/altstack.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"
#include "opt/altstack/flags.h"

/* A stack that disarms itself is never in use: no handler runs on it while it is set. */
static bool on_altstack(u64 sp)
{
    const struct sigaltstack *s = &current->altstack;
    return !(s->flags & (SS_DISABLE | SS_AUTODISARM)) && sp > s->sp && sp - s->sp <= s->size;
}

struct sigaltstack altstack_get(u64 sp)
{
    struct sigaltstack now = current->altstack;
    if (!(now.flags & SS_DISABLE))
        now.flags |= on_altstack(sp) ? SS_ONSTACK : 0;
    return now;
}

long altstack_set(const struct sigaltstack *new, u64 sp)
{
    int mode = new->flags & ~SS_AUTODISARM;
    bool none = mode == SS_DISABLE;
    if (on_altstack(sp))
        return -EPERM;
    if (!none && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (!none && new->size < MINSIGSTKSZ)
        return -ENOMEM;
    current->altstack = none ? (struct sigaltstack){.flags = SS_DISABLE}
                             : (struct sigaltstack){
                                   .sp = new->sp,
                                   .size = new->size,
                                   .flags = new->flags &SS_AUTODISARM,
                               };
    return 0;
}

u64 altstack_for(const struct k_sigaction *act, u64 sp)
{
    const struct sigaltstack *s = &current->altstack;
    bool use = act->flags & SA_ONSTACK && !(s->flags & SS_DISABLE) && !on_altstack(sp);
    return use ? s->sp + s->size : sp;
}

long sys_sigaltstack(u64 new_addr, u64 old_addr)
{
    struct sigaltstack new, old = altstack_get(current->tf->sp);
    if (new_addr) {
        if (copyin(&new, new_addr, sizeof(new)))
            return -EFAULT;
        long error = altstack_set(&new, current->tf->sp);
        if (error)
            return error;
    }
    return old_addr ? copyout(old_addr, &old, sizeof(old)) : 0;
}

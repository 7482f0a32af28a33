/* prctl.c: attributes of a process, or of the caller alone (prctl(2)), and personality(2). */
#include "abi/errno.h"
#include "klib.h"
#include "proc.h"
#include "proc/internal.h"
#include "syscall.h"
#include "vm.h"

#define PR_SET_PDEATHSIG    1
#define PR_GET_PDEATHSIG    2
#define PR_GET_DUMPABLE     3
#define PR_SET_DUMPABLE     4
#define PR_SET_NAME         15
#define PR_GET_NAME         16
#define PR_SET_NO_NEW_PRIVS 38
#define PR_GET_NO_NEW_PRIVS 39
#define PR_GET_TID_ADDRESS  40

static void init_attributes(struct proc *p)
{
    p->dumpable = 1;
}

static void copy_attributes(struct proc *child, const struct proc *parent)
{
    child->dumpable = parent->dumpable;
    child->no_new_privs = parent->no_new_privs;
}

PROC_PART(attributes) = {.init = init_attributes, .copy = copy_attributes};

void signal_orphan(struct proc *child)
{
    if (child->pdeath_signal)
        signal_send_proc_locked(child, child->pdeath_signal, NULL);
}

long sys_prctl(u64 option, u64 a, u64 b, u64 c, u64 d)
{
    struct proc *p = curproc;
    char name[16] = "";
    (void)c, (void)d;
    switch (option) {
    case PR_SET_PDEATHSIG:
        if (a > NSIG)
            return -EINVAL;
        p->pdeath_signal = (int)a;
        return 0;
    case PR_GET_PDEATHSIG:
        return put_user(a, p->pdeath_signal);
    case PR_GET_DUMPABLE:
        return p->dumpable;
    case PR_SET_DUMPABLE:
        if (a > 1)
            return -EINVAL;
        p->dumpable = (int)a;
        return 0;
    case PR_SET_NAME:
        if (copyinstr(name, a, sizeof(name)) == -EFAULT)
            return -EFAULT;
        name[sizeof(name) - 1] = 0;
        memcpy(current->name, name, sizeof(name));
        if (current->tid == p->pid)
            memcpy(p->comm, name, sizeof(name));
        return 0;
    case PR_GET_NAME:
        return copyout(a, current->name, sizeof(current->name));
    case PR_SET_NO_NEW_PRIVS:
        if (a != 1 || b)
            return -EINVAL;
        p->no_new_privs = true;
        return 0;
    case PR_GET_NO_NEW_PRIVS:
        return p->no_new_privs;
    case PR_GET_TID_ADDRESS:
        return put_user(a, current->clear_tid);
    default:
        return -EINVAL;
    }
}

long sys_personality(u64 persona)
{
    return (u32)persona == 0xffffffff || persona == 0 ? 0 : -EINVAL;
}

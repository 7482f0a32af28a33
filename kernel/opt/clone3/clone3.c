/* clone3.c: clone3(2): clone(2) with its arguments in a structure that can grow. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "opt/clone/clone.h"
#include "syscall.h"
#include "opt/exec/copyin_struct.h"

struct clone_args { /* ABI; grows */
    u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    u64 set_tid, set_tid_size, cgroup;
};
#define CLONE_ARGS_SIZE_VER0 64

long sys_clone3(u64 args_addr, u64 size)
{
    struct clone_args a;
    if (size < CLONE_ARGS_SIZE_VER0)
        return -EINVAL;
    long error = copyin_struct(&a, sizeof(a), args_addr, size);
    if (error)
        return error;
    if (a.exit_signal > NSIG || a.flags & (CLONE_CSIGNAL | CLONE_DETACHED) ||
        !a.stack != !a.stack_size || a.set_tid || a.set_tid_size || a.flags >> 33)
        return -EINVAL;
    struct clone_request rq = {a.flags | a.exit_signal,
                               a.stack ? a.stack + a.stack_size : 0,
                               a.parent_tid,
                               a.child_tid,
                               a.tls,
                               a.pidfd};
    return do_clone(&rq);
}

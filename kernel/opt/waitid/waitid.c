/* waitid.c: waitid(2): wait4(2) with more choices and a larger result. */
#include "abi/errno.h"
#include "abi/sched.h"
#include "bugs.h"
#include "klib.h"
#include "opt/pidfd/pidfd.h"
#include "proc.h"
#include "opt/wait4/wait.h"
#include "syscall.h"
#include "vm.h"

size_t user_copy(void *dst, const void *src, size_t n); /* mm/uaccess.S: checks no address */

/* The status is that of wait4(2): 0xffff for a child that continued. */
static void fill_info(siginfo_t *info, const struct wait_result *r)
{
    int signal = r->status & 0x7f;

    info->si_signo = SIGCHLD;
    info->kill.pid = r->pid;
    info->kill.uid = r->uid;
    if (r->status == 0xffff) {
        info->si_code = CLD_CONTINUED;
        info->kill.status = SIGCONT;
    } else if (signal == 0x7f) {
        info->si_code = CLD_STOPPED;
        info->kill.status = r->status >> 8;
    } else if (signal) {
        info->si_code = r->status & 0x80 ? CLD_DUMPED : CLD_KILLED;
        info->kill.status = signal;
    } else {
        info->si_code = CLD_EXITED;
        info->kill.status = r->status >> 8 & 0xff;
    }
}

static long wait_info(const struct wait_request *rq, va_t info_addr, va_t rusage_addr)
{
    struct wait_result r;
    siginfo_t info;
    memset(&info, 0, sizeof(info));
    long found = do_wait(rq, &r);
    if (found < 0)
        return found;
    if (found)
        fill_info(&info, &r);
    if (info_addr && BUG(waitid_kernel_write)) {
        BUG_NOTE_MORE(waitid_kernel_write, info_addr, USER_TOP - 1);
        if (user_copy((void *)info_addr, &info, sizeof(info)))
            return -EFAULT;
    } else if (info_addr && copyout(info_addr, &info, sizeof(info))) {
        return -EFAULT;
    }
    return found && rusage_addr && put_rusage(rusage_addr, &r) ? -EFAULT : 0;
}

/* A pidfd that was opened with PIDFD_NONBLOCK does not wait. */
static long wait_pidfd(struct wait_request *rq, va_t info_addr, va_t rusage_addr)
{
    bool nonblock;
    siginfo_t info;
    struct proc *p = pidfd_proc(rq->id, &nonblock);
    if (!p)
        return -EBADF;
    rq->type = P_PID;
    rq->id = p->pid;
    if (nonblock)
        rq->options |= WNOHANG;
    long error = p->parent == curproc ? wait_info(rq, info_addr, rusage_addr) : -ECHILD;
    proc_put(p);
    if (!error && nonblock && info_addr && !get_user(info, info_addr) && !info.si_signo)
        return -EAGAIN;
    return error;
}

long sys_waitid(u64 type, u64 id, u64 info_addr, u64 options, u64 rusage_addr)
{
    if (options & ~(u64)(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | WCLONE | WALL))
        return -EINVAL;
    if (!(options & (WEXITED | WSTOPPED | WCONTINUED)) || type > P_PIDFD)
        return -EINVAL;
    struct wait_request rq = {(int)type, (int)id, (u32)options | WALL};
    if (type == P_PIDFD)
        return wait_pidfd(&rq, info_addr, rusage_addr);
    if (type == P_PGID && id == 0)
        rq.id = curproc->pgid;
    return wait_info(&rq, info_addr, rusage_addr);
}

/*
 * pidfds: a descriptor that means one process, also after its number has been reused. It is
 * readable when the process is a zombie, and serves signals, waitid(P_PIDFD) and pidfd_getfd(2).
 */
#include "abi/errno.h"
#include "file.h"
#include "opt/procfs/procfs.h"
#include "fs.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "opt/clone/clone.h"
#include "opt/signals/signals.h"
#include "syscall.h"
#include "vm.h"
#include "opt/pidfd/pidfd.h"

static u32 pidfd_poll(struct file *file, struct poll_table *pt)
{
    struct proc *p = file->priv;
    poll_wait(pt, &p->end_wait);
    return atomic_load(&p->state) == PROC_ZOMBIE ? POLLIN | POLLRDNORM : 0;
}

static void pidfd_release(struct file *file)
{
    proc_put(file->priv);
}

static const struct file_ops pidfd_ops = {.poll = pidfd_poll, .release = pidfd_release};

static int pidfd_install(struct proc *p, u32 oflags)
{
    struct file *f =
        file_anon("anon_inode:[pidfd]", 0600, &pidfd_ops, p, O_RDWR | (oflags & O_NONBLOCK));
    if (!f)
        return -ENOMEM;
    proc_get(p);
    return fd_install(f, O_CLOEXEC);
}

struct proc *pidfd_proc(int fd, bool *nonblock)
{
    struct file *f = fd_get(fd);
    struct proc *p = f && f->ops == &pidfd_ops ? proc_get(f->priv) : NULL;
    if (p && nonblock)
        *nonblock = f->oflags & O_NONBLOCK;
    file_put(f);
    return p;
}

long sys_pidfd_open(u64 pid, u64 flags)
{
    if (flags & ~(u64)O_NONBLOCK || (int)pid <= 0)
        return -EINVAL;
    spin_lock(&proc_lock);
    struct proc *p = proc_find((int)pid);
    struct thread *t = p ? NULL : thread_find((int)pid);
    if (p)
        proc_get(p);
    spin_unlock(&proc_lock);
    if (!p)
        return t ? -EINVAL : -ESRCH; /* t: a thread that does not lead its process */
    long fd = pidfd_install(p, (u32)flags);
    proc_put(p);
    return fd;
}

/*
 * A siginfo that could come from the kernel or from kill(2) goes to the caller's process only.
 */
static long check_info(const siginfo_t *info, const struct proc *p, int sig)
{
    if (info->si_signo != sig)
        return -EINVAL;
    return p != curproc && (info->si_code >= 0 || info->si_code == SI_TKILL) ? -EPERM : 0;
}

/* The process that a pidfd or a directory /proc/PID names, with one reference. */
static long proc_to_signal(int fd, struct proc **out)
{
    struct file *f;
    long error;
    *out = pidfd_proc(fd, NULL);
    if (*out)
        return 0;
    f = fd_get(fd);
    error = f && f->inode ? procfs_proc(f, out) : -EBADF;
    file_put(f);
    return error;
}

long sys_pidfd_send_signal(u64 fd, u64 sig, u64 info_addr, u64 flags)
{
    siginfo_t info;
    struct proc *p;
    if (flags || sig > NSIG)
        return -EINVAL;
    long error = proc_to_signal((int)fd, &p);
    if (error)
        return error;
    if (!info_addr)
        siginfo_user(&info, (int)sig, SI_USER);
    else if (copyin(&info, info_addr, sizeof(info)))
        error = -EFAULT;
    else
        error = check_info(&info, p, (int)sig);
    if (!error) {
        spin_lock(&proc_lock);
        error = !p->parent ? -ESRCH : !signal_allowed(p) ? -EPERM : 0; /* waited for: no parent */
        if (!error && sig)
            error = signal_send_proc_locked(p, (int)sig, &info);
        spin_unlock(&proc_lock);
    }
    proc_put(p);
    return error;
}

long sys_pidfd_getfd(u64 pidfd, u64 fd, u64 flags)
{
    struct file *f = NULL;
    if (flags)
        return -EINVAL;
    struct proc *p = pidfd_proc((int)pidfd, NULL);
    if (!p)
        return -EBADF;
    spin_lock(&proc_lock);
    long error = !p->files ? -ESRCH : curproc->euid && curproc->euid != p->uid ? -EPERM : 0;
    if (!error)
        f = files_get(p->files, (int)fd);
    spin_unlock(&proc_lock);
    proc_put(p);
    if (error)
        return error;
    return f ? fd_install(f, O_CLOEXEC) : -EBADF;
}

/* Before the child can run. */
long pidfd_begin(struct proc *p, va_t to)
{
    int fd = pidfd_install(p, 0);

    if (fd >= 0 && put_user(to, fd)) {
        fd_close(fd);
        return -EFAULT;
    }
    return fd;
}

void pidfd_tell_end(struct proc *p)
{
    wake_up(&p->end_wait);
}

static void init_end_wait(struct proc *p)
{
    waitq_init(&p->end_wait);
}

PROC_PART(pidfd) = {.init = init_end_wait};

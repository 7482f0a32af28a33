/*
 * signalfd.c: signalfd4(2): reading signals from a file. A read takes pending signals of the
 * reading thread and its process; the file itself has only the set of signals.
 *
 * Readiness comes from sig_wait of the process that polls. epoll may stay on that queue longer than
 * the process lives, so the file keeps a reference of every process that has polled it.
 */
#include "abi/errno.h"
#include "alloc.h"
#include "bugs.h"
#include "file.h"
#include "fs.h"
#include "klib.h"
#include "opt/signals/signals.h"
#include "opt/sigwait/sigwait.h"
#include "poll.h"
#include "proc.h"
#include "syscall.h"
#include "vm.h"

#define UNREADABLE (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

struct signalfd_siginfo { /* ABI */
    u32 signo;
    i32 err, code;
    u32 pid, uid;
    i32 fd;
    u32 tid, band, overrun, trapno;
    i32 status, value;
    u64 pointer, utime, stime, addr;
    u16 addr_lsb, pad;
    i32 syscall;
    u64 call_addr;
    u32 arch;
    u8 rest[28];
};
_Static_assert(sizeof(struct signalfd_siginfo) == 128, "signalfd_siginfo is ABI");

/* A process that has polled the file; one reference. */
struct asker {
    struct asker *next;
    struct proc *proc;
};

struct signalfd {
    struct mutex lock;
    sigset_t mask;        /* signals to read */
    struct asker *askers; /* (lock) */
};

static const struct file_ops signalfd_fops;

static void describe(const siginfo_t *info, struct signalfd_siginfo *out)
{
    *out = (struct signalfd_siginfo){
        .signo = (u32)info->si_signo, .err = info->si_errno, .code = info->si_code};
    if (info->si_code == SI_TIMER) {
        out->tid = (u32)info->timer.tid;
        out->overrun = (u32)info->timer.overrun;
        out->pointer = info->timer.value;
        out->value = (i32)info->timer.value;
    } else if (SIGBIT(info->si_signo) & SYNCHRONOUS_SIGNALS && info->si_code > 0) {
        out->addr = info->fault.addr;
    } else {
        out->pid = (u32)info->kill.pid;
        out->uid = info->kill.uid;
        out->status = info->si_signo == SIGCHLD ? info->kill.status : 0;
        out->utime = info->si_signo == SIGCHLD ? (u64)info->kill.utime : 0;
        out->stime = info->si_signo == SIGCHLD ? (u64)info->kill.stime : 0;
        if (info->si_code == SI_QUEUE) {
            out->value = (i32)info->rt.value;
            out->pointer = info->rt.value;
        }
    }
}

/* Fills as many records as fit; 0 if no signal is pending. */
static i64 read_pending(struct signalfd *s, struct iter *to)
{
    struct signalfd_siginfo record;
    siginfo_t info;
    i64 done = 0;

    while (to->left >= sizeof(record) && signal_take_wanted(s->mask, &info)) {
        describe(&info, &record);
        if (iter_put(to, &record, sizeof(record)) < sizeof(record))
            return done ? done : -EFAULT;
        done += sizeof(record);
    }
    return done;
}

static i64 signalfd_read(struct file *file, struct iter *to, i64 *pos)
{
    struct signalfd *s = file->priv;
    long err = 0;
    i64 n = 0;

    if (to->left < sizeof(struct signalfd_siginfo))
        return -EINVAL;
    n = read_pending(s, to);
    if (n || file->oflags & O_NONBLOCK)
        return n ? n : -EAGAIN;
    while (!n && !err) {
        err = wait_event_interruptible(&curproc->sig_wait, signal_is_waiting(s->mask));
        n = read_pending(s, to);
    }
    return n ? n : err;
}

/* Takes a reference of the caller's process, unless the file has one. False without memory. */
static bool remember(struct signalfd *s)
{
    struct asker *a;

    if (BUG(signalfd_epoll))
        return true;
    mutex_lock(&s->lock);
    for (a = s->askers; a && a->proc != curproc; a = a->next)
        ;
    if (!a && (a = kzalloc(sizeof(*a)))) {
        a->proc = proc_get(curproc);
        a->next = s->askers;
        s->askers = a;
    }
    mutex_unlock(&s->lock);
    return a;
}

static u32 signalfd_poll(struct file *file, struct poll_table *pt)
{
    struct signalfd *s = file->priv;

    if (pt && !remember(s))
        pt->failed = true;
    else
        poll_wait(pt, &curproc->sig_wait);
    return signal_is_waiting(s->mask) ? POLLIN | POLLRDNORM : 0;
}

static void signalfd_release(struct file *file)
{
    struct signalfd *s = file->priv;

    while (s->askers) {
        struct asker *a = s->askers;

        s->askers = a->next;
        proc_put(a->proc);
        kfree(a);
    }
    kfree(s);
}

static const struct file_ops signalfd_fops = {
    .read = signalfd_read,
    .poll = signalfd_poll,
    .release = signalfd_release,
};

static long new_signalfd(sigset_t mask, u32 flags)
{
    struct signalfd *s = kzalloc(sizeof(*s));
    struct file *f;

    if (!s)
        return -ENOMEM;
    mutex_init(&s->lock, "signalfd");
    s->mask = mask;
    f = file_anon("anon_inode:[signalfd]", 0600, &signalfd_fops, s, O_RDWR | (flags & O_NONBLOCK));
    if (!f) {
        kfree(s);
        return -ENOMEM;
    }
    return fd_install(f, flags);
}

static long change_mask(int fd, sigset_t mask)
{
    struct file *f = fd_get(fd);
    long result = fd;

    if (!f)
        return -EBADF;
    if (f->ops != &signalfd_fops)
        result = -EINVAL;
    else
        atomic_store(&((struct signalfd *)f->priv)->mask, mask);
    file_put(f);
    if (result == fd)
        wake_up(&curproc->sig_wait);
    return result;
}

long sys_signalfd4(u64 fd, u64 set_addr, u64 size, u64 flags)
{
    sigset_t mask;

    if (size != sizeof(mask) || flags & ~(u64)(O_CLOEXEC | O_NONBLOCK))
        return -EINVAL;
    if (get_user(mask, set_addr))
        return -EFAULT;
    mask &= ~UNREADABLE;
    return (int)fd == -1 ? new_signalfd(mask, (u32)flags) : change_mask((int)fd, mask);
}

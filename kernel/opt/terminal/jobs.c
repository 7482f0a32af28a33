/*
 * jobs.c: controlling terminals and job control (credentials(7), ioctl_tty(2)): the session of
 * a terminal, its foreground process group, and the signals when the session leader exits or the
 * line is hung up.
 *
 * Not modelled: orphaned process groups, whose background access fails with EIO on Linux.
 */
#include "opt/signals/numbers.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "boot.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "proc/each.h"
#include "proc/internal.h"
#include "signal.h"
#include "opt/terminal/termios.h"
#include "opt/terminal/ioctls.h"
#include "vm.h"

/* Blocked or ignored by the current process. */
static bool signal_is_ignored(const struct proc *p, int sig)
{
    return sigaction_of(p, sig)->handler == SIG_IGN || current->blocked & SIGBIT(sig);
}

/*
 * May the calling process use the terminal now? sig stops a background process, unless the process
 * ignores it: then reading is -EIO and writing is allowed.
 */
long tty_check_foreground(struct tty *tty, int sig)
{
    struct proc *p = curproc;

    if (p->tty != tty || !tty->pgrp || p->pgid == tty->pgrp)
        return 0;
    if (signal_is_ignored(p, sig))
        return sig == SIGTTIN ? -EIO : 0;
    signal_send_pgrp(p->pgid, sig, NULL);
    return -ERESTARTSYS;
}

struct tty *tty_controlling(struct proc *p)
{
    struct tty *tty;

    spin_lock(&proc_lock);
    tty = p->tty ? tty_get(p->tty) : NULL;
    spin_unlock(&proc_lock);
    return tty;
}

int tty_set_controlling(struct tty *tty, struct proc *p)
{
    int err = 0;

    spin_lock(&proc_lock);
    spin_lock(&tty->lock);
    if (tty->hung_up) {
        err = -EIO;
    } else if (p->pid != p->sid || (tty->session && tty->session != p->sid)) {
        err = -EPERM;
    } else {
        tty->session = p->sid;
        tty->pgrp = p->pgid;
        p->tty = tty;
        p->lost_pgrp = 0;
    }
    spin_unlock(&tty->lock);
    spin_unlock(&proc_lock);
    return err;
}

void tty_open_controlling(struct tty *tty, const struct file *file)
{
    struct proc *p = curproc;

    if (p->pid && p->pid == p->sid && !p->tty && !tty->session && file->fflags & FF_READ &&
        !(file->open_flags & O_NOCTTY))
        tty_set_controlling(tty, p);
}

/* A session loses its terminal. */
struct loss {
    struct tty *tty;
    int pgrp; /* foreground group */
    bool cut; /* hung up: the leader gets SIGHUP and remembers pgrp, to signal it at its exit */
};

static bool lose_tty(struct proc *p, void *arg)
{
    const struct loss *loss = arg;

    if (p->tty != loss->tty)
        return true;
    p->tty = NULL;
    if (loss->cut && p->pid == p->sid) {
        p->lost_pgrp = loss->pgrp;
        signal_send_proc_locked(p, SIGHUP, NULL);
        signal_send_proc_locked(p, SIGCONT, NULL);
    }
    return true;
}

/* Parts the terminal from its session. Returns the group that was in the foreground. */
static int lose_session(struct tty *tty, bool cut)
{
    struct loss loss = {.tty = tty, .cut = cut};

    spin_lock(&tty->lock);
    loss.pgrp = tty->pgrp;
    tty->session = tty->pgrp = 0;
    tty->hung_up |= cut;
    spin_unlock(&tty->lock);
    proc_for_each(lose_tty, &loss);
    return loss.pgrp;
}

void tty_hangup(struct tty *tty)
{
    lose_session(tty, true);
    wake_up_events(&tty->wait, POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR | POLLHUP);
}

void tty_session_exit(struct proc *p)
{
    struct tty *tty;
    int pgrp = p->lost_pgrp;

    if (p->pid != p->sid)
        return;
    tty = tty_controlling(p);
    if (tty) {
        pgrp = lose_session(tty, false);
        tty_put(tty);
    }
    if (pgrp) {
        signal_send_pgrp(pgrp, SIGHUP, NULL);
        signal_send_pgrp(pgrp, SIGCONT, NULL);
    }
}

void tty_forget(struct proc *p)
{
    p->tty = NULL;
}

struct group_search {
    int pgid, sid;
    bool found;
};

static bool same_session(struct proc *p, void *arg)
{
    struct group_search *search = arg;

    search->found |= p->pgid == search->pgid && p->sid == search->sid;
    return !search->found;
}

static long set_pgrp(struct tty *tty, u64 arg)
{
    struct group_search search = {.sid = curproc->sid};
    long err;

    if (curproc->tty != tty || tty->session != curproc->sid)
        return -ENOTTY;
    err = tty_check_foreground(tty, SIGTTOU);
    if (err)
        return err;
    if (get_user(search.pgid, arg))
        return -EFAULT;
    if (search.pgid < 0)
        return -EINVAL;
    proc_for_each(same_session, &search);
    if (!search.found)
        return -EPERM;
    spin_lock(&tty->lock);
    if (tty->session == search.sid)
        tty->pgrp = search.pgid;
    spin_unlock(&tty->lock);
    return 0;
}

/* steal: the superuser may take a terminal away from another session. */
static long take_tty(struct tty *tty, struct proc *p, bool steal)
{
    if (p->tty)
        return -EPERM;
    if (steal && tty->session && tty->session != p->sid && p->pid == p->sid)
        lose_session(tty, false);
    return tty_set_controlling(tty, p);
}

static long give_up_tty(struct tty *tty, struct proc *p)
{
    if (p->tty != tty)
        return -ENOTTY;
    tty_session_exit(p);
    spin_lock(&proc_lock);
    p->tty = NULL;
    spin_unlock(&proc_lock);
    return 0;
}

/* The owner of a master may query the slave's session and group without belonging to them. */
long tty_job_control(struct tty *tty, u32 cmd, u64 arg, bool by_master)
{
    struct proc *p = curproc;
    bool may_ask = by_master || p->tty == tty;

    switch (cmd) {
    case TIOCSCTTY:
        if (p->tty == tty && tty->session == p->sid)
            return 0;
        return take_tty(tty, p, arg == 1 && !p->euid);
    case TIOCNOTTY:
        return by_master ? -ENOTTY : give_up_tty(tty, p);
    case TIOCGPGRP:
        return may_ask ? put_user(arg, tty->pgrp) : -ENOTTY;
    case TIOCSPGRP:
        return set_pgrp(tty, arg);
    case TIOCGSID:
        return may_ask && tty->session ? put_user(arg, tty->session) : -ENOTTY;
    default:
        return -ENOTTY;
    }
}

static int current_open(struct inode *inode, struct file *file)
{
    struct tty *tty = tty_controlling(curproc);

    return tty ? tty_open_file(tty, file) : -ENXIO;
}

static const struct file_ops current_ops = {.open = current_open};

static void jobs_init(void)
{
    devfs_register_dev("tty", &current_ops, 0666, MKDEV(5, 0), NULL);
}
INITCALL(jobs_init);

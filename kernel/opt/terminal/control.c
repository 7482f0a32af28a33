/* control.c: the ioctls of a terminal that change it (termios(3), ioctl_tty(2)). */
#include "opt/terminal/termios.h"
#include "opt/terminal/ioctls.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "fs.h"
#include "klib.h"
#include "proc.h"
#include "signal.h"
#include "vm.h"

static long set_termios(struct tty *tty, u32 cmd, u64 arg)
{
    struct termios t, old;
    long err = tty_check_foreground(tty, SIGTTOU);

    if (err)
        return err;
    if (get_user(t, arg))
        return -EFAULT;
    spin_lock(&tty->lock);
    old = tty->termios;
    tty->termios = t;
    if (cmd == TCSETSF)
        tty_flush_input(tty);
    tty_mode_changed(tty, &old);
    spin_unlock(&tty->lock);
    tty_resume_input(tty);
    return 0;
}

void tty_resize(struct tty *tty, const struct winsize *size)
{
    bool changed;
    int pgrp;

    spin_lock(&tty->lock);
    changed = memcmp(size, &tty->winsize, sizeof(*size)) != 0;
    tty->winsize = *size;
    pgrp = tty->pgrp;
    spin_unlock(&tty->lock);
    if (changed && pgrp)
        signal_send_pgrp(pgrp, SIGWINCH, NULL);
}

static long set_winsize(struct tty *tty, u64 arg)
{
    struct winsize w;

    if (get_user(w, arg))
        return -EFAULT;
    tty_resize(tty, &w);
    return 0;
}

static long push_input(struct tty *tty, u64 arg)
{
    u8 c;

    if (curproc->euid)
        return -EPERM;
    if (get_user(c, arg))
        return -EFAULT;
    tty_receive(tty, c);
    return 0;
}

/* TCOOFF, TCOON: our output; TCIOFF, TCION: sends STOP or START to the other side. */
static long flow(struct tty *tty, u64 arg)
{
    char c;

    if (arg > 3)
        return -EINVAL;
    spin_lock(&tty->lock);
    c = (char)tty->termios.cc[arg == 2 ? VSTOP : VSTART];
    if (arg < 2)
        tty_stop_output(tty, arg == 0);
    else if (c)
        tty->driver->output(tty, &c, 1);
    spin_unlock(&tty->lock);
    return 0;
}

static long flush(struct tty *tty, u64 arg)
{
    if (arg > 2)
        return -EINVAL;
    spin_lock(&tty->lock);
    if (arg != 1)
        tty_flush_input(tty);
    if (arg && tty->driver->noticed)
        tty->driver->noticed(tty, TTY_FLUSHED_OUTPUT);
    spin_unlock(&tty->lock);
    tty_resume_input(tty);
    return 0;
}

long tty_change(struct tty *tty, u32 cmd, u64 arg, bool by_master)
{
    int none = 0;

    switch (cmd) {
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return set_termios(tty, cmd, arg);
    case TIOCSWINSZ:
        return set_winsize(tty, arg);
    case TIOCOUTQ:
        return put_user(arg, none);
    case TIOCSTI:
        return push_input(tty, arg);
    case TCXONC:
        return flow(tty, arg);
    case TCFLSH:
        return flush(tty, arg);
    case TCSBRK:
    case TCSBRKP:
    case TIOCEXCL:
    case TIOCNXCL:
        return 0;
    default:
        return tty_job_control(tty, cmd, arg, by_master);
    }
}

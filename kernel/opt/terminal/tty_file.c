/*
 * tty_file.c: terminals as files: read, write, poll, and the ioctls of termios(3) and ioctl_tty(2).
 * Nodes: /dev/ttyS0, /dev/console (serial.c), /dev/tty (jobs.c), /dev/pts/N (opt/pty/pty.c).
 */
#include "opt/terminal/tty.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "fs.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "signal.h"
#include "opt/terminal/termios.h"
#include "timeout.h"
#include "vm.h"

/* Deciseconds of VTIME to an absolute deadline. */
static u64 deadline_after(u8 vtime)
{
    return vtime ? time_now() + vtime * (TICKS_PER_SEC / 10) : WAIT_FOREVER;
}

/* Is there enough input for a read to return: a line, VMIN characters, or the end? */
static bool enough(struct tty *tty, u64 wanted)
{
    u32 have = tty_readable(tty);

    if (tty->ended || tty->hung_up)
        return true;
    if (tty->termios.lflag & ICANON)
        return tty->lines > 0;
    return have >= MIN(wanted, MAX(tty->termios.cc[VMIN], 1));
}

/* Waits for input as ICANON, VMIN and VTIME say. 0: test again; 1: the time is over; or -errno. */
static long wait_for_input(struct tty *tty, struct file *file, u64 wanted)
{
    bool canon = tty->termios.lflag & ICANON;
    u8 vmin = tty->termios.cc[VMIN], vtime = canon ? 0 : tty->termios.cc[VTIME];
    u32 have = tty->tail - tty->head;
    long err;

    if (file->oflags & O_NONBLOCK)
        return -EAGAIN;
    if (!canon && !vmin && !vtime)
        return 1;
    if (vmin && !have)
        vtime = 0; /* the interval timer starts with the first character */
    err = wait_event_timeout(&tty->wait,
                             enough(tty, wanted) || (vtime && tty->tail - tty->head != have),
                             deadline_after(vtime));
    return err == -ETIMEDOUT ? 1 : err;
}

/* Lets the driver pass on input that did not fit the ring. */
void tty_resume_input(struct tty *tty)
{
    if (tty->driver->resume)
        tty->driver->resume(tty);
}

static i64 tty_read(struct file *file, struct iter *to, i64 *pos)
{
    struct tty *tty = file->priv;
    long err = tty->hung_up ? 0 : tty_check_foreground(tty, SIGTTIN);
    bool canon, eol = false, ready, waited = false;
    u8 chunk[128];
    i64 done = 0;

    while (!err && to->left) {
        u32 n;

        if (tty->hung_up)
            return done ? done : waited ? -EIO : 0; /* a sleeping read: -EIO; later ones: 0 */

        spin_lock(&tty->lock);
        canon = tty->termios.lflag & ICANON;
        ready = done || enough(tty, to->left);
        n = ready ? tty_take(tty, chunk, MIN(to->left, sizeof(chunk)), &eol) : 0;
        spin_unlock(&tty->lock);
        if (iter_put(to, chunk, n) < n)
            return done ? done : -EFAULT;
        done += n;
        if (n)
            tty_resume_input(tty);
        if (eol || (done && !n) || (done && canon && n < sizeof(chunk)) || (!n && tty->ended))
            break;
        if (ready)
            continue;
        waited = true;
        err = wait_for_input(tty, file, to->left);
        if (err == 1) { /* VTIME is over: return the input there is, perhaps none */
            spin_lock(&tty->lock);
            n = tty_take(tty, chunk, MIN(to->left, sizeof(chunk)), &eol);
            spin_unlock(&tty->lock);
            return iter_put(to, chunk, n) < n ? -EFAULT : (i64)n;
        }
    }
    return done ? done : err;
}

static long wait_for_room(struct tty *tty, struct file *file)
{
    if (file->oflags & O_NONBLOCK)
        return -EAGAIN;
    return wait_event_interruptible(&tty->wait, tty_can_emit(tty) || tty->hung_up);
}

static i64 tty_write(struct file *file, struct iter *from, i64 *pos)
{
    struct tty *tty = file->priv;
    char chunk[256];
    u32 at = 0, have = 0, n; /* chunk[at, have) is not written yet */
    i64 done = 0;
    long err = tty->termios.lflag & TOSTOP ? tty_check_foreground(tty, SIGTTOU) : 0;

    while (!err && (at < have || from->left)) {
        if (at == have) {
            u64 want = MIN(from->left, sizeof(chunk));

            at = 0;
            have = (u32)iter_get(from, chunk, want);
            if (have < want)
                err = -EFAULT;
        }
        spin_lock(&tty->lock);
        n = tty->hung_up ? 0 : tty_emit(tty, chunk + at, have - at);
        spin_unlock(&tty->lock);
        at += n;
        done += n;
        if (tty->hung_up)
            err = -EIO;
        else if (!n && !err)
            err = wait_for_room(tty, file);
        if (done && signal_pending(current))
            break; /* the writer of a long text must remain killable */
        sched_relax();
    }
    return done ? done : err;
}

static u32 tty_poll(struct file *file, struct poll_table *pt)
{
    struct tty *tty = file->priv;
    u32 bits = 0;

    poll_wait(pt, &tty->wait);
    spin_lock(&tty->lock);
    if (tty_readable(tty) || tty->ended || tty->hung_up)
        bits |= POLLIN | POLLRDNORM;
    if (tty_can_emit(tty) || tty->hung_up)
        bits |= POLLOUT | POLLWRNORM;
    if (tty->hung_up)
        bits |= POLLERR | POLLHUP;
    spin_unlock(&tty->lock);
    return bits;
}

static long get_termios(struct tty *tty, u64 arg)
{
    struct termios t;

    spin_lock(&tty->lock);
    t = tty->termios;
    spin_unlock(&tty->lock);
    return put_user(arg, t);
}

long tty_control(struct tty *tty, u32 cmd, u64 arg, bool by_master)
{
    int n;

    switch (cmd) {
    case TCGETS:
        return get_termios(tty, arg);
    case TIOCGWINSZ:
        return put_user(arg, tty->winsize);
    case TIOCINQ:
        spin_lock(&tty->lock);
        n = (int)tty_readable(tty);
        spin_unlock(&tty->lock);
        return put_user(arg, n);
    default:
        return tty_change(tty, cmd, arg, by_master);
    }
}

static long tty_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct tty *tty = file->priv;

    if (tty->hung_up)
        return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
    return tty_control(tty, cmd, arg, false);
}

static void tty_release(struct file *file)
{
    struct tty *tty = file->priv;
    bool last;

    spin_lock(&tty->lock);
    last = --tty->files == 0;
    spin_unlock(&tty->lock);
    if (last && tty->driver->closed)
        tty->driver->closed(tty);
    tty_put(tty);
}

const struct file_ops tty_fops = {
    .release = tty_release,
    .read = tty_read,
    .write = tty_write,
    .poll = tty_poll,
    .ioctl = tty_ioctl,
};

int tty_open_file(struct tty *tty, struct file *file)
{
    bool dead;

    spin_lock(&tty->lock);
    dead = tty->hung_up;
    tty->files += !dead;
    tty->was_opened |= !dead;
    spin_unlock(&tty->lock);
    if (dead) {
        tty_put(tty);
        return -EIO;
    }
    file->ops = &tty_fops;
    file->priv = tty;
    file->fflags |= FF_STREAM;
    return 0;
}

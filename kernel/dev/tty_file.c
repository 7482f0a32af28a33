/*
 * tty_file.c: terminals as files: read, write, poll, job control, and the ioctls of termios(3) and
 * ioctl_tty(2). Nodes: /dev/ttyS0, /dev/console (the same terminal), /dev/tty (the controlling
 * one).
 */
#include "tty.h"
#include "abi/errno.h"
#include "abi/signal.h"
#include "fs.h"
#include "klib.h"
#include "memlayout.h"
#include "poll.h"
#include "proc.h"
#include "signal.h"
#include "termios.h"
#include "timeout.h"
#include "vm.h"

#define TCGETS     0x5401
#define TCSETS     0x5402
#define TCSETSW    0x5403
#define TCSETSF    0x5404
#define TCSBRK     0x5409
#define TCXONC     0x540a
#define TCFLSH     0x540b
#define TIOCEXCL   0x540c
#define TIOCNXCL   0x540d
#define TIOCSCTTY  0x540e
#define TIOCGPGRP  0x540f
#define TIOCSPGRP  0x5410
#define TIOCOUTQ   0x5411
#define TIOCSTI    0x5412
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define TIOCINQ    0x541b
#define TIOCNOTTY  0x5422
#define TCSBRKP    0x5425
#define TIOCGSID   0x5429

static struct tty *console;

struct tty *tty_console(void)
{
    return console;
}

/* Deciseconds of VTIME to an absolute deadline. */
static u64 deadline_after(u8 vtime)
{
    return vtime ? time_now() + vtime * (TICKS_PER_SEC / 10) : WAIT_FOREVER;
}

/*
 * Job control: may the calling process use the terminal now? Background processes are stopped by
 * sig, unless they ignore it: then reading is -EIO and writing is allowed.
 */
static long check_foreground(struct tty *tty, int sig)
{
    struct proc *p = curproc;

    if (p->tty != tty || !tty->pgrp || p->pgid == tty->pgrp)
        return 0;
    if (signal_is_ignored(p, sig))
        return sig == SIGTTIN ? -EIO : 0;
    signal_send_pgrp(p->pgid, sig, NULL);
    return -ERESTARTSYS;
}

/* How many characters a raw read still wants before it returns (VMIN). */
static bool enough(struct tty *tty, u64 wanted)
{
    u32 have = tty_readable(tty);

    if (tty->ended)
        return true;
    if (tty->termios.lflag & ICANON)
        return tty->lines > 0;
    return have >= MIN(wanted, MAX(tty->termios.cc[VMIN], 1));
}

/* Waits for input as ICANON, VMIN and VTIME say. 0: look again; 1: time is over, return nothing. */
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

static i64 tty_read(struct file *file, struct iter *to, i64 *pos)
{
    struct tty *tty = file->priv;
    long err = check_foreground(tty, SIGTTIN);
    bool canon, eol = false, ready;
    u8 chunk[128];
    i64 done = 0;

    while (!err && to->left) {
        u32 n;

        spin_lock(&tty->lock);
        canon = tty->termios.lflag & ICANON;
        ready = done || enough(tty, to->left);
        n = ready ? tty_take(tty, chunk, MIN(to->left, sizeof chunk), &eol) : 0;
        spin_unlock(&tty->lock);
        if (iter_put(to, chunk, n) < n)
            return done ? done : -EFAULT;
        done += n;
        if (n && tty->resume)
            tty->resume(tty);
        if (eol || (done && !n) || (done && canon && n < sizeof chunk) || (!n && tty->ended))
            break;
        if (ready)
            continue;
        err = wait_for_input(tty, file, to->left);
        if (err == 1) { /* VTIME: what there is, perhaps nothing */
            spin_lock(&tty->lock);
            n = tty_take(tty, chunk, MIN(to->left, sizeof chunk), &eol);
            spin_unlock(&tty->lock);
            return iter_put(to, chunk, n) < n ? -EFAULT : (i64)n;
        }
    }
    return done ? done : err;
}

static i64 tty_write(struct file *file, struct iter *from, i64 *pos)
{
    struct tty *tty = file->priv;
    char chunk[256];
    i64 done = 0;
    long err = tty->termios.lflag & TOSTOP ? check_foreground(tty, SIGTTOU) : 0;

    while (!err && from->left) {
        u64 want = MIN(from->left, sizeof chunk), n;

        if (tty->stopped) {
            if (file->oflags & O_NONBLOCK)
                err = -EAGAIN;
            else
                err = wait_event_interruptible(&tty->wait, !tty->stopped);
            continue;
        }
        n = iter_get(from, chunk, want);
        spin_lock(&tty->lock);
        tty_emit(tty, chunk, n);
        spin_unlock(&tty->lock);
        done += n;
        if (n < want)
            err = -EFAULT;
        if (signal_pending(current))
            break; /* a long text must not keep its writer from being killed */
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
    if (tty_readable(tty) || tty->ended)
        bits |= POLLIN | POLLRDNORM;
    if (!tty->stopped)
        bits |= POLLOUT | POLLWRNORM;
    spin_unlock(&tty->lock);
    return bits;
}

int tty_set_controlling(struct tty *tty, struct proc *p)
{
    if (p->pid != p->sid || (tty->session && tty->session != p->sid))
        return -EPERM;
    spin_lock(&tty->lock);
    tty->session = p->sid;
    tty->pgrp = p->pgid;
    spin_unlock(&tty->lock);
    p->tty = tty;
    return 0;
}

struct session_end {
    int sid;
};

static bool forget_tty(struct proc *p, void *arg)
{
    const struct session_end *end = arg;

    if (p->sid == end->sid)
        p->tty = NULL;
    return true;
}

void tty_session_exit(struct proc *p)
{
    struct tty *tty = p->tty;
    struct session_end end = {p->sid};
    int pgrp;

    if (!tty || p->pid != p->sid)
        return;
    spin_lock(&tty->lock);
    pgrp = tty->pgrp;
    tty->session = tty->pgrp = 0;
    spin_unlock(&tty->lock);
    if (pgrp) {
        signal_send_pgrp(pgrp, SIGHUP, NULL);
        signal_send_pgrp(pgrp, SIGCONT, NULL);
    }
    proc_for_each(forget_tty, &end);
}

static long get_termios(struct tty *tty, u64 arg)
{
    struct termios t;

    spin_lock(&tty->lock);
    t = tty->termios;
    spin_unlock(&tty->lock);
    return put_user(arg, t);
}

static long set_termios(struct tty *tty, u32 cmd, u64 arg)
{
    struct termios t;
    u32 old;
    long err = check_foreground(tty, SIGTTOU);

    if (err)
        return err;
    if (get_user(t, arg))
        return -EFAULT;
    spin_lock(&tty->lock);
    old = tty->termios.lflag;
    tty->termios = t;
    if (cmd == TCSETSF)
        tty_flush_input(tty);
    tty_mode_changed(tty, old);
    spin_unlock(&tty->lock);
    return 0;
}

void tty_resize(struct tty *tty, const struct winsize *size)
{
    bool changed;
    int pgrp;

    spin_lock(&tty->lock);
    changed = memcmp(size, &tty->winsize, sizeof *size) != 0;
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

static bool same_session(struct proc *p, void *arg)
{
    int *pgrp = arg; /* [0] wanted group, [1] session, [2] found */

    if (p->pgid == pgrp[0] && p->sid == pgrp[1])
        pgrp[2] = 1;
    return true;
}

static long set_pgrp(struct tty *tty, u64 arg)
{
    int want[3] = {0, curproc->sid, 0};
    long err;

    if (curproc->tty != tty || tty->session != curproc->sid)
        return -ENOTTY;
    err = check_foreground(tty, SIGTTOU);
    if (err)
        return err;
    if (get_user(want[0], arg))
        return -EFAULT;
    if (want[0] < 0)
        return -EINVAL;
    proc_for_each(same_session, want);
    if (!want[2])
        return -EPERM;
    tty->pgrp = want[0];
    return 0;
}

/* steal: the superuser may take a terminal away from another session. */
static long take_tty(struct tty *tty, struct proc *p, bool steal)
{
    struct session_end old = {tty->session};

    if (steal && old.sid && old.sid != p->sid && p->pid == p->sid) {
        spin_lock(&tty->lock);
        tty->session = tty->pgrp = 0;
        spin_unlock(&tty->lock);
        proc_for_each(forget_tty, &old);
    }
    return tty_set_controlling(tty, p);
}

static long control(struct tty *tty, u32 cmd, u64 arg)
{
    struct proc *p = curproc;

    switch (cmd) {
    case TIOCSCTTY:
        if (p->tty == tty && tty->session == p->sid)
            return 0;
        return p->tty ? -EPERM : take_tty(tty, p, arg == 1 && !p->euid);
    case TIOCNOTTY:
        if (p->tty != tty)
            return -ENOTTY;
        if (p->pid == p->sid)
            tty_session_exit(p);
        p->tty = NULL;
        return 0;
    case TIOCGPGRP:
        return p->tty == tty ? put_user(arg, tty->pgrp) : -ENOTTY;
    case TIOCSPGRP:
        return set_pgrp(tty, arg);
    case TIOCGSID:
        return p->tty == tty ? put_user(arg, tty->session) : -ENOTTY;
    default:
        return -ENOTTY;
    }
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

static long flow(struct tty *tty, u64 arg)
{
    if (arg > 3)
        return -EINVAL;
    if (arg < 2) {
        tty->stopped = arg == 0;
        wake_up_events(&tty->wait, POLLOUT | POLLWRNORM);
    }
    return 0;
}

static long flush(struct tty *tty, u64 arg)
{
    if (arg > 2)
        return -EINVAL;
    spin_lock(&tty->lock);
    if (arg != 1)
        tty_flush_input(tty);
    spin_unlock(&tty->lock);
    return 0;
}

static long tty_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct tty *tty = file->priv;
    int n;

    switch (cmd) {
    case TCGETS:
        return get_termios(tty, arg);
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
        return set_termios(tty, cmd, arg);
    case TIOCGWINSZ:
        return put_user(arg, tty->winsize);
    case TIOCSWINSZ:
        return set_winsize(tty, arg);
    case TIOCINQ:
        spin_lock(&tty->lock);
        n = (int)tty_readable(tty);
        spin_unlock(&tty->lock);
        return put_user(arg, n);
    case TIOCOUTQ:
        n = 0;
        return put_user(arg, n);
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
        return control(tty, cmd, arg);
    }
}

static int open_tty(struct tty *tty, struct file *file)
{
    file->priv = tty;
    file->fflags |= FF_STREAM;
    return 0;
}

static int serial_open(struct inode *inode, struct file *file)
{
    struct tty *tty = inode->dev_priv;
    struct proc *p = curproc;

    if (!(file->oflags & O_PATH) && p->pid == p->sid && p->pid && !p->tty && !tty->session &&
        !(file->open_flags & O_NOCTTY))
        tty_set_controlling(tty, p);
    return open_tty(tty, file);
}

static int console_open(struct inode *inode, struct file *file)
{
    return console ? open_tty(console, file) : -ENODEV;
}

static int current_open(struct inode *inode, struct file *file)
{
    return curproc->tty ? open_tty(curproc->tty, file) : -ENXIO;
}

#define COMMON .read = tty_read, .write = tty_write, .poll = tty_poll, .ioctl = tty_ioctl

static const struct file_ops serial_ops = {.open = serial_open, COMMON};
static const struct file_ops console_ops = {.open = console_open, COMMON};
static const struct file_ops current_ops = {.open = current_open, COMMON};

int tty_register(struct tty *tty, const char *node, u64 rdev)
{
    return devfs_register_dev(node, &serial_ops, 0620, rdev, tty);
}

/* Kernel messages bypass the terminal's lock: they must come out of any context. */
static void console_put(const char *s, size_t n)
{
    size_t start = 0;

    for (size_t i = 0; i < n; i++)
        if (s[i] == '\n' && console->termios.oflag & ONLCR) {
            console->output(console, s + start, i - start);
            console->output(console, "\r", 1);
            start = i;
        }
    console->output(console, s + start, n - start);
}

void tty_console_is(struct tty *tty)
{
    console = tty;
    console_set_output(console_put);
    devfs_register_dev("console", &console_ops, 0600, MKDEV(5, 1), NULL);
    devfs_register_dev("tty", &current_ops, 0666, MKDEV(5, 0), NULL);
}

static void apply_word(struct tty *tty, const char *word, u64 len)
{
    const char *end;

    if (len == 6 && !memcmp(word, "noecho", 6))
        tty->termios.lflag &= ~ECHO;
    else if (len == 6 && !memcmp(word, "nocrlf", 6))
        tty->termios.oflag &= ~ONLCR;
    else if (len == 3 && !memcmp(word, "raw", 3))
        tty->termios.lflag &= ~(ICANON | ECHO | ISIG | IEXTEN);
    else if (len == 6 && !memcmp(word, "stream", 6)) {
        tty->termios.iflag &= ~(ICRNL | IXON);
        tty->termios.lflag &= ~(ICANON | ECHO | ISIG | IEXTEN);
        tty->is_stream = true;
    } else if (*word >= '0' && *word <= '9') {
        tty->winsize.rows = (u16)strtou64(word, &end, 10);
        if (*end == 'x')
            tty->winsize.cols = (u16)strtou64(end + 1, &end, 10);
    }
}

void tty_apply_cmdline(struct tty *tty)
{
    char buf[64];
    const char *p = cmdline_get("tty", buf, sizeof buf);

    while (p && *p) {
        const char *comma = strchr(p, ',');

        apply_word(tty, p, comma ? (u64)(comma - p) : strlen(p));
        p = comma ? comma + 1 : NULL;
    }
}

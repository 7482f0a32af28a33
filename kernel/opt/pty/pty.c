/*
 * pty.c: pseudo-terminals (pty(7), ioctl_tty(2)). Opening /dev/ptmx makes a pair: the new file is
 * the master, which stands for a terminal's keyboard and screen; the slave is an ordinary tty with
 * this file as its driver. Programs open it as /dev/pts/N or through TIOCGPTPEER.
 *
 *     write(master) -> in -> tty_receive -> line discipline -> read(slave)
 *     read(master) <- out <- tty_output  <- line discipline <- write(slave), echo
 *
 * Both queues are bounded; writers wait for readers. Bytes that the line discipline refuses stay in
 * `in`. The last ECHO_ROOM bytes of `out` are reserved for echo, which is lost when they are full.
 *
 * Lifetime: the master and every open file of the slave hold a reference to the tty. Closing the
 * master removes the name and hangs the slave up; dropping the last reference frees the number.
 *
 * Not modelled: EXTPROC, the master's own termios and flow control (all its terminal ioctls act on
 * the slave), TIOCSTI on the master.
 */
#include "opt/signals/numbers.h"
#include "abi/errno.h"
#include "opt/poll/wait.h"
#include "abi/signal.h"
#include "alloc.h"
#include "opt/pty/devpts.h"
#include "fs/open.h"
#include "boot.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "signal.h"
#include "opt/terminal/termios.h"
#include "opt/terminal/ioctls.h"
#include "vm.h"

#define PTY_MAX     256 /* MKDEV has 8 bits for the minor number */
#define QUEUE_BYTES 8192
#define ECHO_ROOM   1024
#define PACKET_DATA 0 /* first byte of what a master reads in packet mode */

struct queue {
    u32 head, tail; /* run freely */
    u8 bytes[QUEUE_BYTES];
};

struct pty {
    struct tty tty; /* the slave */
    u32 index;
    struct inode *node;   /* /dev/pts/index; until the master closes */
    bool locked;          /* opening the slave fails (TIOCSPTLCK) */
    bool packet;          /* (tty.lock) packet mode */
    u8 status;            /* (tty.lock) TTY_* bits the master has not read yet */
    struct queue out;     /* (tty.lock) from the slave */
    struct mutex writing; /* before tty.lock */
    struct queue in;      /* (writing) from the master */
    struct waitq wait;    /* the master's */
};

static struct spinlock index_lock = SPINLOCK_INIT("pty_index");
static bool index_taken[PTY_MAX]; /* (index_lock) */

static u32 used(const struct queue *q)
{
    return q->tail - q->head;
}

static u32 space(const struct queue *q)
{
    return QUEUE_BYTES - used(q);
}

static struct pty *pty_of(const struct tty *tty)
{
    return container_of(tty, struct pty, tty);
}

/* The lowest free number, as Linux gives it. */
static int take_index(void)
{
    int i = 0;

    spin_lock(&index_lock);
    while (i < PTY_MAX && index_taken[i])
        i++;
    if (i < PTY_MAX)
        index_taken[i] = true;
    spin_unlock(&index_lock);
    return i < PTY_MAX ? i : -ENOSPC;
}

static void give_index(u32 i)
{
    spin_lock(&index_lock);
    index_taken[i] = false;
    spin_unlock(&index_lock);
}

/* ---- The slave's driver ---- */

static void pty_output(struct tty *tty, const char *s, size_t n)
{
    struct queue *q = &pty_of(tty)->out;

    while (n-- && space(q))
        q->bytes[q->tail++ % QUEUE_BYTES] = (u8)*s++;
    wake_up_events(&pty_of(tty)->wait, POLLIN | POLLRDNORM);
}

static u32 pty_room(const struct tty *tty)
{
    u32 n = space(&pty_of(tty)->out);

    return n > ECHO_ROOM ? n - ECHO_ROOM : 0;
}

static bool wants_more(struct pty *pty)
{
    bool more;

    spin_lock(&pty->tty.lock);
    more = tty_wants_more(&pty->tty);
    spin_unlock(&pty->tty.lock);
    return more;
}

/* Passes input on while the line discipline accepts it. Needs pty->writing. */
static void pump(struct pty *pty)
{
    struct queue *q = &pty->in;

    while (used(q) && wants_more(pty))
        tty_receive(&pty->tty, q->bytes[q->head++ % QUEUE_BYTES]);
}

static void pty_resume(struct tty *tty)
{
    struct pty *pty = pty_of(tty);

    if (!used(&pty->in))
        return;
    mutex_lock(&pty->writing);
    pump(pty);
    mutex_unlock(&pty->writing);
    wake_up_events(&pty->wait, POLLOUT | POLLWRNORM);
}

static void pty_noticed(struct tty *tty, u32 what)
{
    static const u8 undone_by[][2] = {{TTY_STOPPED, TTY_STARTED},
                                      {TTY_STARTED, TTY_STOPPED},
                                      {TTY_FLOW_IS_OTHER, TTY_FLOW_IS_USUAL},
                                      {TTY_FLOW_IS_USUAL, TTY_FLOW_IS_OTHER}};
    struct pty *pty = pty_of(tty);

    if (!pty->packet)
        return;
    for (u32 i = 0; i < ARRAY_LEN(undone_by); i++)
        if (what & undone_by[i][1])
            pty->status &= ~undone_by[i][0];
    pty->status |= what;
    wake_up_events(&pty->wait, POLLIN | POLLRDNORM | POLLPRI);
}

static void pty_closed(struct tty *tty)
{
    wake_up_events(&pty_of(tty)->wait, POLLHUP);
}

static void pty_free(struct tty *tty)
{
    give_index(pty_of(tty)->index);
    kfree(pty_of(tty));
}

static const struct tty_driver pty_driver = {
    .output = pty_output,
    .room = pty_room,
    .resume = pty_resume,
    .noticed = pty_noticed,
    .closed = pty_closed,
    .free = pty_free,
};

static int slave_open(struct inode *inode, struct file *file)
{
    struct pty *pty;
    int err;

    mutex_lock(&fs_lock);
    pty = inode->dev_priv;
    if (pty)
        tty_get(&pty->tty);
    mutex_unlock(&fs_lock);
    if (!pty)
        return -EIO;
    if (pty->locked) {
        tty_put(&pty->tty);
        return -EIO;
    }
    err = tty_open_file(&pty->tty, file);
    if (!err)
        tty_open_controlling(&pty->tty, file);
    return err;
}

static const struct file_ops slave_fops = {.open = slave_open};

/* ---- The master ---- */

static bool slave_is_gone(const struct pty *pty)
{
    return pty->tty.was_opened && !pty->tty.files;
}

static bool has_output(const struct pty *pty)
{
    return used(&pty->out) || (pty->packet && pty->status);
}

/* Up to n bytes for the master; a status byte of packet mode comes alone. Needs tty.lock. */
static u32 take_output(struct pty *pty, u8 *buf, u32 n, bool first)
{
    struct queue *q = &pty->out;
    u32 got = 0;

    if (pty->packet && first && has_output(pty)) {
        buf[got++] = pty->status ? pty->status : PACKET_DATA;
        if (pty->status) {
            pty->status = 0;
            return got;
        }
    }
    while (got < n && used(q))
        buf[got++] = q->bytes[q->head++ % QUEUE_BYTES];
    return got;
}

static i64 master_read(struct file *file, struct iter *to, i64 *pos)
{
    struct pty *pty = file->priv;
    u8 chunk[256];
    i64 done = 0;
    long err = 0;

    while (!err && to->left) {
        u32 want = (u32)MIN(to->left, sizeof(chunk)), n;
        bool gone;

        spin_lock(&pty->tty.lock);
        n = take_output(pty, chunk, want, !done);
        gone = slave_is_gone(pty);
        spin_unlock(&pty->tty.lock);
        if (n)
            tty_output_room(&pty->tty);
        if (iter_put(to, chunk, n) < n)
            return done ? done : -EFAULT;
        done += n;
        if (done && n < want)
            break;
        if (n)
            continue;
        err = gone ? -EIO
              : file->oflags & O_NONBLOCK
                  ? -EAGAIN
                  : wait_event_interruptible(&pty->wait, has_output(pty) || slave_is_gone(pty));
    }
    return done ? done : err;
}

/* Copies from the caller up to the end of the ring or of the free space. Needs pty->writing. */
static i64 fill(struct queue *q, struct iter *from)
{
    u32 at = q->tail % QUEUE_BYTES;
    u64 want = MIN(MIN(space(q), QUEUE_BYTES - at), from->left);
    u64 n = iter_get(from, q->bytes + at, want);

    q->tail += n;
    return n || !want ? (i64)n : -EFAULT;
}

static i64 master_write(struct file *file, struct iter *from, i64 *pos)
{
    struct pty *pty = file->priv;
    i64 done = 0, n;
    long err = 0;

    while (!err && from->left) {
        mutex_lock(&pty->writing);
        n = fill(&pty->in, from);
        pump(pty);
        mutex_unlock(&pty->writing);
        if (n < 0)
            err = n;
        else
            done += n;
        if (!n)
            err = file->oflags & O_NONBLOCK
                      ? -EAGAIN
                      : wait_event_interruptible(&pty->wait, space(&pty->in) > 0);
        if (done && signal_pending(current))
            break;
        sched_relax();
    }
    return done ? done : err;
}

static u32 master_poll(struct file *file, struct poll_table *pt)
{
    struct pty *pty = file->priv;
    u32 bits = space(&pty->in) ? POLLOUT | POLLWRNORM : 0;

    poll_wait(pt, &pty->wait);
    spin_lock(&pty->tty.lock);
    if (has_output(pty))
        bits |= POLLIN | POLLRDNORM;
    if (pty->packet && pty->status)
        bits |= POLLPRI;
    if (slave_is_gone(pty))
        bits |= POLLHUP;
    spin_unlock(&pty->tty.lock);
    return bits;
}

static i64 master_available(struct file *file)
{
    struct pty *pty = file->priv;

    return used(&pty->out);
}

static long set_packet(struct pty *pty, u64 arg)
{
    int on;

    if (get_user(on, arg))
        return -EFAULT;
    spin_lock(&pty->tty.lock);
    if (on && !pty->packet)
        pty->status = 0;
    pty->packet = on;
    spin_unlock(&pty->tty.lock);
    return 0;
}

static long set_lock(struct pty *pty, u64 arg)
{
    int on;

    if (get_user(on, arg))
        return -EFAULT;
    pty->locked = on;
    return 0;
}

/* Opens the slave by its inode, so the caller's mount namespace and root do not matter. */
static long open_peer(struct pty *pty, u32 flags)
{
    struct path at = {NULL, pty->node};
    struct file *file;
    char shown[24];
    int err;

    ksnprintf(shown, sizeof(shown), "/dev/pts/%u", pty->index);
    flags &= O_ACCMODE | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
    err = file_open_path(&at, flags, shown, &file);
    return err ? err : fd_install(file, flags);
}

static long send_signal(struct pty *pty, u64 sig)
{
    if (sig != SIGINT && sig != SIGQUIT && sig != SIGTSTP)
        return -EINVAL;
    if (pty->tty.pgrp)
        signal_send_pgrp(pty->tty.pgrp, (int)sig, NULL);
    return 0;
}

static long flush_master(struct pty *pty, u64 arg)
{
    if (arg > 2)
        return -EINVAL;
    spin_lock(&pty->tty.lock);
    if (arg != 1)
        pty->out.head = pty->out.tail;
    spin_unlock(&pty->tty.lock);
    tty_output_room(&pty->tty);
    return 0;
}

static long master_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct pty *pty = file->priv;
    int n;

    switch (cmd & ~IOC_DIRECTION) {
    case TIOCGPTN:
        return put_user(arg, pty->index);
    case TIOCSPTLCK:
        return set_lock(pty, arg);
    case TIOCGPTLCK:
        n = pty->locked;
        return put_user(arg, n);
    case TIOCPKT:
        return set_packet(pty, arg);
    case TIOCGPKT:
        n = pty->packet;
        return put_user(arg, n);
    case TIOCGPTPEER:
        return open_peer(pty, (u32)arg);
    case TIOCSIG:
        return send_signal(pty, arg);
    case TIOCINQ:
        n = (int)used(&pty->out);
        return put_user(arg, n);
    case TCFLSH:
        return flush_master(pty, arg);
    case TIOCSTI:
        return -EIO;
    default:
        return tty_control(&pty->tty, cmd, arg, true);
    }
}

static void master_release(struct file *file)
{
    struct pty *pty = file->priv;

    devpts_remove(pty->index, pty->node);
    tty_hangup(&pty->tty);
    tty_put(&pty->tty);
}

static const struct file_ops master_fops = {
    .release = master_release,
    .read = master_read,
    .write = master_write,
    .poll = master_poll,
    .available = master_available,
    .ioctl = master_ioctl,
};

static int ptmx_open(struct inode *inode, struct file *file)
{
    struct pty *pty = kzalloc(sizeof(*pty));
    int index = pty ? take_index() : -ENOMEM, err;

    if (index < 0) {
        kfree(pty);
        return index;
    }
    tty_init(&pty->tty, "pts", &pty_driver, MKDEV(PTS_MAJOR, index));
    pty->tty.termios.cflag &= ~HUPCL;
    pty->tty.winsize = (struct winsize){0};
    pty->index = (u32)index;
    pty->locked = true;
    mutex_init(&pty->writing, "pty");
    waitq_init(&pty->wait);
    err = devpts_add(pty->index, &slave_fops, pty, &pty->node);
    if (err) {
        tty_put(&pty->tty);
        return err;
    }
    file->ops = &master_fops;
    file->priv = pty;
    file->fflags |= FF_STREAM;
    return 0;
}

static const struct file_ops ptmx_fops = {.open = ptmx_open};

static void pty_init(void)
{
    if (devpts_init() || devpts_add_ptmx(&ptmx_fops) ||
        devfs_register_dev("ptmx", &ptmx_fops, 0666, MKDEV(5, 2), NULL))
        kprintf("ptmx: no memory for its nodes\n");
}
INITCALL(pty_init);

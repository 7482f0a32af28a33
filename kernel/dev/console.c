/*
 * console.c: the console of a kernel without the option TERMINAL: a serial port as a file,
 * /dev/console and /dev/ttyS0. Output has CR before LF. Input has echo, and comes line by line,
 * which no key edits; ^D ends it. With tty=stream on the kernel's command line bytes pass as they
 * are, and a break of the line ends them. TCGETS answers, so that C libraries see a terminal.
 */
#include "abi/errno.h"
#include "driver.h"
#include "fs.h"
#include "klib.h"
#include "poll.h"
#include "proc.h"
#include "serial.h"
#include "signal.h"
#include "vm.h"

#ifndef CONFIG_TERMINAL

#define INPUT_MAX 4096
#define CTRL_D    4

struct serial {
    struct uart *uart;
    bool is_stream;
    struct spinlock lock;
    struct waitq wait;
    char input[INPUT_MAX]; /* (lock) a ring */
    u32 head, ready, tail; /* (lock) next to read, end of the last line, next free */
    bool ended;            /* (lock) read(2) answers 0 once no line is left */
    bool full;             /* (lock) the port does not listen */
};

static struct serial *console;

static void put(struct serial *s, const char *text, size_t n)
{
    size_t start = 0;

    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n') {
            uart_output(s->uart, text + start, i - start);
            uart_output(s->uart, "\r", 1);
            start = i;
        }
    uart_output(s->uart, text + start, n - start);
}

bool serial_wants_more(struct serial *s)
{
    spin_lock(&s->lock);
    s->full = s->tail - s->head == INPUT_MAX;
    if (s->full)
        uart_listen(s->uart, false);
    spin_unlock(&s->lock);
    return !s->full;
}

void serial_receive(struct serial *s, u8 byte, bool is_break)
{
    char c = byte == '\r' && !s->is_stream ? '\n' : (char)byte;
    bool end = s->is_stream ? is_break : c == CTRL_D;

    spin_lock(&s->lock);
    if (!end) {
        s->input[s->tail++ % INPUT_MAX] = c;
        if (!s->is_stream)
            put(s, &c, 1);
    }
    s->ended |= end;
    if (s->is_stream || end || c == '\n' || s->tail - s->head == INPUT_MAX) {
        s->ready = s->tail;
        wake_up_events(&s->wait, POLLIN | POLLRDNORM);
    }
    spin_unlock(&s->lock);
}

void serial_start(struct serial *s)
{
    spin_lock(&s->lock);
    if (s->tail - s->head < INPUT_MAX) {
        s->full = false;
        uart_listen(s->uart, true);
    }
    spin_unlock(&s->lock);
}

/* Up to n bytes of one line, or of the stream. */
static u32 take(struct serial *s, char *to, u64 n, bool *ended)
{
    u32 got = 0;

    spin_lock(&s->lock);
    while (got < n && s->head != s->ready) {
        to[got++] = s->input[s->head++ % INPUT_MAX];
        if (to[got - 1] == '\n' && !s->is_stream)
            break;
    }
    *ended = s->ended;
    spin_unlock(&s->lock);
    return got;
}

static i64 serial_read(struct file *file, struct iter *to, i64 *pos)
{
    struct serial *s = file->priv;
    char chunk[128];
    i64 done = 0;
    bool ended;
    long err = 0;
    u32 n;

    while (!err && to->left) {
        n = take(s, chunk, MIN(to->left, sizeof(chunk)), &ended);
        if (n && s->full)
            serial_start(s);
        if (iter_put(to, chunk, n) < n)
            return done ? done : -EFAULT;
        done += n;
        if (n == sizeof(chunk) && chunk[n - 1] != '\n')
            continue; /* of a longer line */
        if (done || ended)
            return done;
        err = file->oflags & O_NONBLOCK
                  ? -EAGAIN
                  : wait_event_interruptible(&s->wait, s->head != s->ready || s->ended);
    }
    return done ? done : err;
}

static i64 serial_write(struct file *file, struct iter *from, i64 *pos)
{
    struct serial *s = file->priv;
    char chunk[256];
    i64 done = 0;
    u64 want, n;

    do {
        want = MIN(from->left, sizeof(chunk));
        n = iter_get(from, chunk, want);
        spin_lock(&s->lock);
        put(s, chunk, n);
        spin_unlock(&s->lock);
        done += n;
        sched_relax();
    } while (n == want && from->left && !signal_pending(current));
    return done || n == want ? done : -EFAULT;
}

static u32 serial_poll(struct file *file, struct poll_table *pt)
{
    struct serial *s = file->priv;

    poll_wait(pt, &s->wait);
    return POLLOUT | POLLWRNORM | (s->head != s->ready || s->ended ? POLLIN | POLLRDNORM : 0);
}

static long serial_ioctl(struct file *file, u32 cmd, u64 arg)
{
    struct termios none = {0};

    return cmd == TCGETS ? put_user(arg, none) : -ENOTTY;
}

static int serial_open(struct inode *inode, struct file *file)
{
    file->priv = inode->dev_priv;
    file->fflags |= FF_STREAM;
    return 0;
}

static const struct file_ops serial_ops = {
    .open = serial_open,
    .read = serial_read,
    .write = serial_write,
    .poll = serial_poll,
    .ioctl = serial_ioctl,
};

struct serial *serial_new(struct device *dev, struct uart *u, u32 number)
{
    struct serial *s = dev_zalloc(dev, sizeof(*s));
    char buf[64];
    const char *words = cmdline_get("tty", buf, sizeof(buf));

    if (!s)
        return NULL;
    s->uart = u;
    spin_init(&s->lock, "serial");
    waitq_init(&s->wait);
    s->is_stream = words && !strcmp(words, "stream");
    return s;
}

/* Kernel messages take no lock: they must work in any context. */
static void console_put(const char *text, size_t n)
{
    put(console, text, n);
}

int serial_register(struct serial *s, u32 number)
{
    char name[8];
    int err;

    ksnprintf(name, sizeof(name), "ttyS%u", number);
    err = devfs_register_dev(name, &serial_ops, 0620, MKDEV(4, 64 + number), s);
    if (err || number)
        return err;
    console = s;
    console_set_output(console_put);
    return devfs_register_dev("console", &serial_ops, 0600, MKDEV(5, 1), s);
}

#endif

/*
 * serial.c: a serial port as a terminal: /dev/ttyS0, and /dev/console, which is the same terminal.
 */
#include "abi/errno.h"
#include "driver.h"
#include "fs.h"
#include "klib.h"
#include "opt/terminal/termios.h"

struct serial {
    struct tty tty;
    struct uart *uart;
    bool throttled; /* (tty.lock) the tty is full: the port does not listen */
};

static struct tty *console;

struct tty *tty_console(void)
{
    return console;
}

void tty_give_console(struct proc *p)
{
    if (console)
        tty_set_controlling(console, p);
}

static void serial_output(struct tty *tty, const char *s, size_t n)
{
    uart_output(container_of(tty, struct serial, tty)->uart, s, n);
}

static void serial_resume(struct tty *tty)
{
    struct serial *s = container_of(tty, struct serial, tty);

    spin_lock(&tty->lock);
    if (s->throttled) {
        s->throttled = false;
        uart_listen(s->uart, true);
    }
    spin_unlock(&tty->lock);
}

static const struct tty_driver serial_driver = {.output = serial_output, .resume = serial_resume};

bool serial_wants_more(struct serial *s)
{
    bool yes;

    spin_lock(&s->tty.lock);
    yes = tty_wants_more(&s->tty);
    if (!yes) {
        s->throttled = true;
        uart_listen(s->uart, false);
    }
    spin_unlock(&s->tty.lock);
    return yes;
}

void serial_receive(struct serial *s, u8 c, bool is_break)
{
    if (is_break)
        tty_break(&s->tty);
    else
        tty_receive(&s->tty, c);
}

void serial_start(struct serial *s)
{
    if (!s->throttled)
        uart_listen(s->uart, true);
}

static int serial_open(struct inode *inode, struct file *file)
{
    struct tty *tty = inode->dev_priv;
    int err = tty_open_file(tty_get(tty), file);

    if (!err)
        tty_open_controlling(tty, file);
    return err;
}

static int console_open(struct inode *inode, struct file *file)
{
    return console ? tty_open_file(tty_get(console), file) : -ENODEV;
}

static const struct file_ops serial_ops = {.open = serial_open};
static const struct file_ops console_ops = {.open = console_open};

/* Kernel messages bypass the terminal's lock: they must work in any context. */
static void console_put(const char *s, size_t n)
{
    size_t start = 0;

    for (size_t i = 0; i < n; i++)
        if (s[i] == '\n' && console->termios.oflag & ONLCR) {
            console->driver->output(console, s + start, i - start);
            console->driver->output(console, "\r", 1);
            start = i;
        }
    console->driver->output(console, s + start, n - start);
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

static void apply_cmdline(struct tty *tty)
{
    char buf[64];
    const char *p = cmdline_get("tty", buf, sizeof(buf));

    while (p && *p) {
        const char *comma = strchr(p, ',');

        apply_word(tty, p, comma ? (u64)(comma - p) : strlen(p));
        p = comma ? comma + 1 : NULL;
    }
}

struct serial *serial_new(struct device *dev, struct uart *u, u32 number)
{
    struct serial *s = dev_zalloc(dev, sizeof(*s));

    if (!s)
        return NULL;
    s->uart = u;
    tty_init(&s->tty, "ttyS", &serial_driver, MKDEV(4, 64 + number));
    apply_cmdline(&s->tty);
    return s;
}

int serial_register(struct serial *s, u32 number)
{
    char name[8];
    int err;

    ksnprintf(name, sizeof(name), "ttyS%u", number);
    err = devfs_register_dev(name, &serial_ops, 0620, s->tty.rdev, &s->tty);
    if (err || number)
        return err;
    console = &s->tty;
    console_set_output(console_put);
    devfs_register_dev("console", &console_ops, 0600, MKDEV(5, 1), NULL);
    return 0;
}

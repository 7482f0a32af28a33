/*
 * uart.c: driver of the 16550A serial port, the console. Input uses the interrupt, output polls:
 * the transmitter of an emulated port is ready again at once, and kernel messages must appear even
 * when interrupts are off.
 *
 * Registers (16550D data sheet, table 4), one byte each, reg-shift from the device tree:
 *   0 RBR/THR data   1 IER interrupt enable   2 FCR FIFO control (w), IIR (r)
 *   3 LCR line control   4 MCR modem control   5 LSR line status
 */
#include "abi/errno.h"
#include "driver.h"
#include "fdt.h"
#include "fs.h"
#include "klib.h"
#include "riscv.h"
#include "termios.h"
#include "tty.h"

enum { RBR = 0, THR = 0, IER = 1, IIR = 2, FCR = 2, LCR = 3, MCR = 4, LSR = 5 };

#define IER_RX_READY     0x01
#define FCR_ENABLE_CLEAR 0x07 /* FIFOs on, both cleared */
#define LCR_8N1          0x03
#define MCR_DTR_RTS_OUT2 0x0b
#define LSR_RX_READY     0x01
#define LSR_BREAK        0x10 /* the next character in RBR is a break */
#define LSR_TX_EMPTY     0x20

struct uart {
    struct tty tty;
    volatile u8 *regs;
    u32 shift;
    bool throttled; /* (tty.lock) the tty is full: input waits in the port's FIFO, IER is 0 */
};

static u8 get(struct uart *u, u32 reg)
{
    return mmio_read8(u->regs + (reg << u->shift));
}

static void set(struct uart *u, u32 reg, u8 v)
{
    mmio_write8(u->regs + (reg << u->shift), v);
}

static void uart_output(struct tty *tty, const char *s, size_t n)
{
    struct uart *u = container_of(tty, struct uart, tty);

    for (; n; n--, s++) {
        while (!(get(u, LSR) & LSR_TX_EMPTY))
            ;
        set(u, THR, *s);
    }
}

/* Is there room for a character? If not, turns the level-triggered interrupt off. */
static bool may_receive(struct uart *u)
{
    bool yes;

    spin_lock(&u->tty.lock);
    yes = tty_wants_more(&u->tty);
    if (!yes) {
        u->throttled = true;
        set(u, IER, 0);
    }
    spin_unlock(&u->tty.lock);
    return yes;
}

static void uart_interrupt(u32 source, void *arg)
{
    struct uart *u = arg;

    u8 status;

    while ((status = get(u, LSR)) & LSR_RX_READY) {
        u8 c;

        if (!may_receive(u))
            return;
        c = get(u, RBR);
        if (status & LSR_BREAK)
            tty_break(&u->tty);
        else
            tty_receive(&u->tty, c);
    }
}

static void uart_resume(struct tty *tty)
{
    struct uart *u = container_of(tty, struct uart, tty);

    spin_lock(&tty->lock);
    if (u->throttled) {
        u->throttled = false;
        set(u, IER, IER_RX_READY);
    }
    spin_unlock(&tty->lock);
}

static const struct tty_driver uart_tty = {.output = uart_output, .resume = uart_resume};

/* Input that came before is read first, because switching the FIFOs on clears them. */
static void uart_setup(struct uart *u)
{
    set(u, IER, 0);
    set(u, LCR, LCR_8N1);
    uart_interrupt(0, u);
    set(u, FCR, FCR_ENABLE_CLEAR);
    set(u, MCR, MCR_DTR_RTS_OUT2);
}

static int uart_probe(struct device *dev)
{
    static u32 count;
    struct uart *u = dev_zalloc(dev, sizeof(*u));
    char name[8];
    int err;

    if (!u)
        return -ENOMEM;
    u->regs = dev_ioremap(dev, 0);
    if (!u->regs)
        return -EBUSY;
    u->shift = fdt_prop_u32(dev->fdt_node, "reg-shift", 0);
    tty_init(&u->tty, "ttyS", &uart_tty, MKDEV(4, 64 + count));
    tty_apply_cmdline(&u->tty);
    uart_setup(u);
    ksnprintf(name, sizeof(name), "ttyS%u", count);
    err = dev_irq(dev, uart_interrupt, u);
    if (!err)
        err = tty_register(&u->tty, name); /* last: a terminal is never taken back */
    if (err)
        return err;
    if (!count++)
        tty_console_is(&u->tty);
    if (!u->throttled)
        set(u, IER, IER_RX_READY);
    return 0;
}

DRIVER(uart){.match = MATCH_TREE("ns16550a"), .probe = uart_probe, .permanent = true};

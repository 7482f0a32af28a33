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
#include "riscv.h"
#include "serial.h"

enum { RBR = 0, THR = 0, IER = 1, IIR = 2, FCR = 2, LCR = 3, MCR = 4, LSR = 5 };

#define IER_RX_READY     0x01
#define FCR_ENABLE_CLEAR 0x07 /* FIFOs on, both cleared */
#define LCR_8N1          0x03
#define MCR_DTR_RTS_OUT2 0x0b
#define LSR_RX_READY     0x01
#define LSR_BREAK        0x10 /* the next character in RBR is a break */
#define LSR_TX_EMPTY     0x20

struct uart {
    struct serial *serial;
    volatile u8 *regs;
    u32 shift;
};

static u8 get(struct uart *u, u32 reg)
{
    return mmio_read8(u->regs + (reg << u->shift));
}

static void set(struct uart *u, u32 reg, u8 v)
{
    mmio_write8(u->regs + (reg << u->shift), v);
}

void uart_output(struct uart *u, const char *s, size_t n)
{
    for (; n; n--, s++) {
        while (!(get(u, LSR) & LSR_TX_EMPTY))
            ;
        set(u, THR, *s);
    }
}

/* Input that nobody listens to waits in the port's FIFO. */
void uart_listen(struct uart *u, bool on)
{
    set(u, IER, on ? IER_RX_READY : 0);
}

static void uart_interrupt(u32 source, void *arg)
{
    struct uart *u = arg;
    u8 status;

    while ((status = get(u, LSR)) & LSR_RX_READY) {
        if (!serial_wants_more(u->serial))
            return;
        serial_receive(u->serial, get(u, RBR), status & LSR_BREAK);
    }
}

/* Input that came before is read first, because switching the FIFOs on clears them. */
static void uart_setup(struct uart *u)
{
    uart_listen(u, false);
    set(u, LCR, LCR_8N1);
    uart_interrupt(0, u);
    set(u, FCR, FCR_ENABLE_CLEAR);
    set(u, MCR, MCR_DTR_RTS_OUT2);
}

static int uart_probe(struct device *dev)
{
    static u32 count;
    struct uart *u = dev_zalloc(dev, sizeof(*u));
    int err;

    if (!u)
        return -ENOMEM;
    u->regs = dev_ioremap(dev, 0);
    if (!u->regs)
        return -EBUSY;
    u->shift = fdt_prop_u32(dev->fdt_node, "reg-shift", 0);
    u->serial = serial_new(dev, u, count);
    if (!u->serial)
        return -ENOMEM;
    uart_setup(u);
    err = dev_irq(dev, uart_interrupt, u);
    if (!err)
        err = serial_register(u->serial, count); /* last: a terminal is never taken back */
    if (err)
        return err;
    count++;
    serial_start(u->serial);
    return 0;
}

DRIVER(uart){.match = MATCH_TREE("ns16550a"), .probe = uart_probe, .permanent = true};

/*
 * serial.h: the serial port and what programs see of it. dev/uart.c has the registers. A struct
 * serial is above it: a terminal (opt/terminal/serial.c), or without that option a plain console
 * (dev/console.c).
 */
#pragma once

#include "types.h"
#include "optional.h"

struct device;
struct proc;
struct serial;
struct uart;

/* uart.c: output waits for each character, in any context; listen: input raises interrupts. */
void uart_output(struct uart *u, const char *s, size_t n);
void uart_listen(struct uart *u, bool on);

/* The port's driver calls these. A new one takes input, but is no file before serial_register. */
struct serial *serial_new(struct device *dev, struct uart *u, u32 number); /* or 0; dev owns it */
int serial_register(struct serial *s, u32 number); /* number 0 is the console, too */
/* Is there room for a character? If not, the port stops to listen, until there is. */
bool serial_wants_more(struct serial *s);
void serial_receive(struct serial *s, u8 c, bool is_break); /* (interrupt) */
void serial_start(struct serial *s); /* the port listens, unless there is no room */

#define NCCS   19
#define TCGETS 0x5401

struct termios { /* ABI */
    u32 iflag, oflag, cflag, lflag;
    u8 line;
    u8 cc[NCCS];
};

/* opt/terminal: processes and their terminals. */
/* ^C reaches the first process. */
OPTIONAL(CONFIG_TERMINAL, void, tty_give_console, (struct proc *p))
/* A session leader exits: SIGHUP to the foreground group; the terminal is free again. */
OPTIONAL(CONFIG_TERMINAL, void, tty_session_exit, (struct proc *p))
/* Locked: nobody finds p any more, not even tty_hangup(). */
OPTIONAL(CONFIG_TERMINAL, void, tty_forget, (struct proc *p))

/*
 * tty.h: terminals. A tty is a line discipline (dev/tty.c) between a driver that moves characters
 * (dev/uart.c) and the files that programs read and write.
 */
#pragma once

#include "types.h"
#include "lock.h"
#include "wait.h"

#define NCCS 19

struct termios { /* ABI */
    u32 iflag, oflag, cflag, lflag;
    u8 line;
    u8 cc[NCCS];
};

struct winsize { /* ABI */
    u16 rows, cols, xpixel, ypixel;
};

#define TTY_BUF 4096

struct tty {
    const char *name;
    void (*output)(struct tty *tty, const char *s, size_t n); /* driver; any context */
    void (*resume)(struct tty *tty); /* driver, or 0: there is room again */
    void *priv;
    struct spinlock lock;
    struct termios termios; /* (lock) */
    struct winsize winsize; /* (lock) */
    u16 ring[TTY_BUF];      /* (lock) input: a byte and the marks below */
    u32 head;               /* (lock) next to read */
    u32 committed;          /* (lock) readable up to here */
    u32 tail;               /* (lock) next free; [committed, tail) can still be edited */
    u32 lines;              /* (lock) line ends in [head, committed) */
    u32 column;             /* (lock) of the cursor, for tabs and erasing */
    bool literal_next;      /* (lock) after ^V */
    bool stopped;           /* (lock) output, by ^S */
    bool is_stream;         /* a break ends the input (tty=stream) */
    bool ended;             /* (lock) by a break: read(2) answers 0 once the ring is empty */
    int session, pgrp;      /* (lock) 0: none */
    struct waitq wait;      /* input arrived, output resumed */
};

void tty_init(struct tty *tty, const char *name,
              void (*output)(struct tty *, const char *, size_t));
void tty_receive(struct tty *tty, u8 c); /* from the driver's interrupt handler */
void tty_break(struct tty *tty);         /* likewise: the line was held low */
/*
 * May the driver hand over more? If not, it waits for resume, so that nothing is lost. Needs the
 * lock.
 */
bool tty_wants_more(const struct tty *tty);
/* The window has a new size: SIGWINCH to the foreground. */
void tty_resize(struct tty *tty, const struct winsize *size);
int tty_register(struct tty *tty, const char *node, u64 rdev); /* as /dev/node */
void tty_console_is(struct tty *tty); /* /dev/console and kernel messages go here */
struct tty *tty_console(void);        /* or 0 */

struct proc;
/* Session leader p takes tty as controlling terminal, its group in the foreground. */
int tty_set_controlling(struct tty *tty, struct proc *p);
/* A session leader exits: SIGHUP to the foreground, the terminal is free again. */
void tty_session_exit(struct proc *p);

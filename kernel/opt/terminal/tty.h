/*
 * tty.h: terminals. A tty is a line discipline (tty.c) between a driver that moves characters
 * (serial.c, opt/pty/pty.c) and the files that programs read and write.
 *
 * References to a tty: its open files and its driver each hold one. The field tty of struct proc
 * holds none: readers take proc_lock, and tty_hangup clears it before the driver drops its own.
 * Lock order: proc_lock before tty->lock.
 */
#pragma once

#include "opt/signals/numbers.h"
#include "types.h"
#include "lock.h"
#include "serial.h"
#include "signal.h"
#include "wait.h"

struct winsize { /* ABI */
    u16 rows, cols, xpixel, ypixel;
};

#define TTY_BUF  4096
#define MARK_EOL 0x100 /* in the ring: read(2) stops after this character */
#define MARK_EOF 0x200 /* and does not return it */

struct tty;

/* The operations of a driver. All but output may be 0. */
struct tty_driver {
    void (*output)(struct tty *tty, const char *s, size_t n); /* (lock), or a kernel message */
    u32 (*room)(const struct tty *tty); /* (lock) characters that output has room for; 0: any */
    void (*resume)(struct tty *tty);    /* in a thread: the ring has room again */
    void (*noticed)(struct tty *tty, u32 what); /* (lock) an event: TTY_* bits */
    void (*closed)(struct tty *tty);            /* the last open file is gone */
    void (*free)(struct tty *tty);              /* the last reference is gone */
};

/* The bits of packet mode (ioctl_tty(2), TIOCPKT). */
enum {
    TTY_FLUSHED_INPUT = 1 << 0,
    TTY_FLUSHED_OUTPUT = 1 << 1,
    TTY_STOPPED = 1 << 2,
    TTY_STARTED = 1 << 3,
    TTY_FLOW_IS_OTHER = 1 << 4, /* ^S and ^Q do not stop and start output (TIOCPKT_NOSTOP) */
    TTY_FLOW_IS_USUAL = 1 << 5,
};

struct tty {
    const char *name;
    const struct tty_driver *driver;
    u64 rdev;
    int refs; /* atomic */
    struct spinlock lock;
    u32 files;              /* (lock) open */
    bool was_opened;        /* (lock) ever */
    bool hung_up;           /* (lock) never reset: reads of its files end, writes fail */
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

void tty_init(struct tty *tty, const char *name, const struct tty_driver *driver, u64 rdev);
struct tty *tty_get(struct tty *tty);
void tty_put(struct tty *tty);
void tty_receive(struct tty *tty, u8 c); /* from the driver, also in its interrupt handler */
void tty_break(struct tty *tty);         /* likewise: the line was held low */
/*
 * May the driver pass more input on? If not, it keeps it until resume, so that nothing is lost.
 * Needs the lock.
 */
bool tty_wants_more(const struct tty *tty);
/* Sets the window size; if it changed, sends SIGWINCH to the foreground group. */
void tty_resize(struct tty *tty, const struct winsize *size);
/* There is room for output again. */
void tty_output_room(struct tty *tty);
struct tty *tty_console(void); /* where kernel messages go, or 0 */

/* Opens tty as file. Takes over a reference to tty, also on failure (-EIO: hung up). */
struct file;
int tty_open_file(struct tty *tty, struct file *file);
extern const struct file_ops tty_fops; /* the operations of such a file */
/* The ioctls of a terminal; by_master: called on the master of a pseudo-terminal. */
long tty_control(struct tty *tty, u32 cmd, u64 arg, bool by_master);

struct proc;
struct tty *tty_controlling(struct proc *p); /* with a reference, or 0 */
/* Session leader p takes tty as controlling terminal, its group in the foreground. */
int tty_set_controlling(struct tty *tty, struct proc *p);
/* open(2) without O_NOCTTY gives a session leader without a terminal this one. */
void tty_open_controlling(struct tty *tty, const struct file *file);
/* Hangs up: the session loses its terminal, its leader gets SIGHUP, reads of open files end. */
void tty_hangup(struct tty *tty);

/* kill.c: to each process of a group. */
int signal_send_pgrp(int pgid, int sig, const siginfo_t *info);

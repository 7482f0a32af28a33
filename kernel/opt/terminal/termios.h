/* termios.h: the bits of struct termios, Linux/riscv64 values (asm-generic/termbits.h). */
#pragma once

#include "opt/terminal/tty.h"

enum {
    VINTR,
    VQUIT,
    VERASE,
    VKILL,
    VEOF,
    VTIME,
    VMIN,
    VSWTC,
    VSTART,
    VSTOP,
    VSUSP,
    VEOL,
    VREPRINT,
    VDISCARD,
    VWERASE,
    VLNEXT,
    VEOL2
};

/* iflag */
#define ISTRIP  0000040
#define INLCR   0000100
#define IGNCR   0000200
#define ICRNL   0000400
#define IXON    0002000
#define IXANY   0004000
#define IMAXBEL 0020000

/* oflag */
#define OPOST 0000001
#define ONLCR 0000004
#define OCRNL 0000010

/* cflag */
#define B38400 0000017
#define CS8    0000060
#define CREAD  0000200
#define HUPCL  0002000

/* lflag */
#define ISIG    0000001
#define ICANON  0000002
#define ECHO    0000010
#define ECHOE   0000020
#define ECHOK   0000040
#define ECHONL  0000100
#define NOFLSH  0000200
#define TOSTOP  0000400
#define ECHOCTL 0001000
#define ECHOKE  0004000
#define IEXTEN  0100000

/* ioctl_tty(2); the others are in ioctls.h */
#define TIOCSPGRP  0x5410
#define TIOCGWINSZ 0x5413
#define TIOCINQ    0x541b

/* tty.c; all need the lock */
u32 tty_emit(struct tty *tty, const char *s, u32 n); /* the number that the driver had room for */
void tty_emit_char(struct tty *tty, char c);         /* through output processing */
void tty_emit_all(struct tty *tty, const char *s, u32 n);
void tty_echo(struct tty *tty, u8 c);
void tty_notice(struct tty *tty, u32 what);              /* tells the driver of TTY_* events */
bool tty_is_key(const struct tty *tty, int which, u8 c); /* is c the special character V*? */
bool tty_can_emit(const struct tty *tty);                /* is there room for one more? */
void tty_flush_input(struct tty *tty);
u32 tty_readable(const struct tty *tty);
u32 tty_take(struct tty *tty, u8 *buf, u32 n, bool *eol);

/* tty_file.c */
void tty_resume_input(
    struct tty *tty); /* lets the driver pass on input that did not fit the ring */

/* control.c, edit.c, jobs.c, stop.c */
void tty_mode_changed(struct tty *tty, const struct termios *old);
void tty_stop_output(struct tty *tty, bool stop);
long tty_job_control(struct tty *tty, u32 cmd, u64 arg, bool by_master);
/* Needs the lock. True: c is a key with an effect; the caller sends *sig after it drops the lock.
 */
bool tty_key(struct tty *tty, u8 c, int *sig);
long tty_check_foreground(struct tty *tty, int sig);
long tty_change(struct tty *tty, u32 cmd, u64 arg, bool by_master); /* the ioctls that change it */

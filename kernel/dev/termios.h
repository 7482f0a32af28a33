/* termios.h: the bits of struct termios, Linux/riscv64 values (asm-generic/termbits.h). */
#pragma once

#include "tty.h"

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

/* tty.c, for tty_file.c; all need the lock */
void tty_emit(struct tty *tty, const char *s, size_t n);
void tty_flush_input(struct tty *tty);
u32 tty_readable(const struct tty *tty);
u32 tty_take(struct tty *tty, u8 *buf, u32 n, bool *eol);
void tty_mode_changed(struct tty *tty, u32 old_lflag);

/* tty_file.c: "tty=raw,noecho,nocrlf,ROWSxCOLS" of the kernel command line */
void tty_apply_cmdline(struct tty *tty);

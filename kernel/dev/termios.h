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

/* ioctl_tty(2) */
#define TCGETS      0x5401
#define TCSETS      0x5402
#define TCSETSW     0x5403
#define TCSETSF     0x5404
#define TCSBRK      0x5409
#define TCXONC      0x540a
#define TCFLSH      0x540b
#define TIOCEXCL    0x540c
#define TIOCNXCL    0x540d
#define TIOCSCTTY   0x540e
#define TIOCGPGRP   0x540f
#define TIOCSPGRP   0x5410
#define TIOCOUTQ    0x5411
#define TIOCSTI     0x5412
#define TIOCGWINSZ  0x5413
#define TIOCSWINSZ  0x5414
#define TIOCINQ     0x541b
#define TIOCPKT     0x5420
#define TIOCNOTTY   0x5422
#define TCSBRKP     0x5425
#define TIOCGSID    0x5429
#define TIOCGPTPEER 0x5441

/* Of a pseudo-terminal's master, without the direction bits: libc headers differ in those. */
#define IOC_DIRECTION 0xe0000000
#define TIOCGPTN      0x00045430
#define TIOCSPTLCK    0x00045431
#define TIOCSIG       0x00045436
#define TIOCGPKT      0x00045438
#define TIOCGPTLCK    0x00045439

/* tty.c, for tty_file.c; all need the lock */
u32 tty_emit(struct tty *tty, const char *s, u32 n); /* the number that the driver had room for */
bool tty_can_emit(const struct tty *tty);            /* is there room for one more? */
void tty_flush_input(struct tty *tty);
u32 tty_readable(const struct tty *tty);
u32 tty_take(struct tty *tty, u8 *buf, u32 n, bool *eol);
void tty_mode_changed(struct tty *tty, const struct termios *old);
void tty_stop_output(struct tty *tty, bool stop);

/* tty_jobs.c */
long tty_check_foreground(struct tty *tty, int sig);
long tty_job_control(struct tty *tty, u32 cmd, u64 arg, bool by_master);

/* tty_file.c: "tty=raw,noecho,nocrlf,ROWSxCOLS" of the kernel command line */
void tty_apply_cmdline(struct tty *tty);

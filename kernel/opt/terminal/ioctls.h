/* ioctls.h: the commands that change a terminal, Linux/riscv64 values. */
#pragma once

/* ioctl_tty(2) */
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
#define TIOCOUTQ    0x5411
#define TIOCSTI     0x5412
#define TIOCSWINSZ  0x5414
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

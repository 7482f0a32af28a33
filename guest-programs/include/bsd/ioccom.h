/*
 * ioctl numbers as the BSDs build them: direction in bits 31..29, size in bits 28..16 (13 bits),
 * group in bits 15..8, number in bits 7..0. Replaces the macros of Linux's <asm/ioctl.h>.
 */
#ifndef KCOVBOX_BSD_IOCCOM_H
#define KCOVBOX_BSD_IOCCOM_H

#include <asm/ioctl.h>

#undef _IOC
#undef _IO
#undef _IOR
#undef _IOW
#undef _IOWR

#define IOCPARM_SHIFT  13
#define IOCPARM_MASK   ((1 << IOCPARM_SHIFT) - 1)
#define IOCPARM_MAX    (1 << 12)
#define IOCPARM_LEN(x) (((x) >> 16) & IOCPARM_MASK)
#define IOCBASECMD(x)  ((x) & ~(IOCPARM_MASK << 16))
#define IOCGROUP(x)    (((x) >> 8) & 0xff)

#undef IOC_IN
#undef IOC_OUT
#undef IOC_INOUT
#define IOC_VOID    ((unsigned long)0x20000000)
#define IOC_OUT     ((unsigned long)0x40000000)
#define IOC_IN      ((unsigned long)0x80000000)
#define IOC_INOUT   (IOC_IN | IOC_OUT)
#define IOC_DIRMASK ((unsigned long)0xe0000000)

#define _IOC(inout, group, num, len)                                                               \
    ((unsigned long)((inout) | (((len) & IOCPARM_MASK) << 16) | ((group) << 8) | (num)))
#define _IO(g, n)      _IOC(IOC_VOID, (g), (n), 0)
#define _IOWINT(g, n)  _IOC(IOC_VOID, (g), (n), sizeof(int))
#define _IOR(g, n, t)  _IOC(IOC_OUT, (g), (n), sizeof(t))
#define _IOW(g, n, t)  _IOC(IOC_IN, (g), (n), sizeof(t))
#define _IOWR(g, n, t) _IOC(IOC_INOUT, (g), (n), sizeof(t))

#endif

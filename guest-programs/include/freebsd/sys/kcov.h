/* FreeBSD's <sys/kcov.h>: commands and modes of kcov(4). Arguments are ints by value. */
#ifndef _SYS_KCOV_H_
#define _SYS_KCOV_H_

#include <sys/ioccom.h>

#define KCOV_MAXENTRIES (1 << 24)
#define KCOV_ENTRY_SIZE 8

#define KCOV_MODE_TRACE_PC  0
#define KCOV_MODE_TRACE_CMP 1

#define KIOENABLE     _IOWINT('c', 2)
#define KIODISABLE    _IO('c', 3)
#define KIOSETBUFSIZE _IOWINT('c', 4)

#define KCOV_CMP_CONST       (1 << 0)
#define KCOV_CMP_SIZE(x)     ((x) << 1)
#define KCOV_CMP_MASK        (3 << 1)
#define KCOV_CMP_GET_SIZE(x) (((x) >> 1) & 3)

#endif

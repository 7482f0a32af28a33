/* OpenBSD's <sys/kcov.h>: commands and modes of kcov(4). */
#ifndef _SYS_KCOV_H_
#define _SYS_KCOV_H_

#include <sys/ioccom.h>

#define KIOSETBUFSIZE _IOW('K', 1, unsigned long)
#define KIOENABLE     _IOW('K', 2, int)
#define KIODISABLE    _IO('K', 3)
/* The size in the command is that of a pointer; the struct happens to have the same. */
#define KIOREMOTEATTACH _IOW('K', 4, struct kio_remote_attach *)

#define KCOV_MODE_NONE      0
#define KCOV_MODE_TRACE_PC  1
#define KCOV_MODE_TRACE_CMP 2

#define KCOV_REMOTE_COMMON 0

struct kio_remote_attach {
    int subsystem; /* KCOV_REMOTE_COMMON */
    int id;        /* ignored: the key is the calling process */
};

#endif

/* glibc's, but with the BSDs' encoding of commands. */
#include_next <sys/ioctl.h>
#ifndef KCOVBOX_NETBSD_SYS_IOCTL_H
#define KCOVBOX_NETBSD_SYS_IOCTL_H
#include "../../bsd/ioccom.h"
#include "../../bsd/filio.h"
#endif

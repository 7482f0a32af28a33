/* The BSDs' encoding of ioctl commands. */
#ifndef KCOVBOX_FREEBSD_SYS_IOCCOM_H
#define KCOVBOX_FREEBSD_SYS_IOCCOM_H
#include "../../bsd/ioccom.h"
#endif

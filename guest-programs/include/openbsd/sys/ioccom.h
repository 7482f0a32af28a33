/* The BSDs' encoding of ioctl commands. */
#ifndef KCOVBOX_OPENBSD_SYS_IOCCOM_H
#define KCOVBOX_OPENBSD_SYS_IOCCOM_H
#include "../../bsd/ioccom.h"
#endif

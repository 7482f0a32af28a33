/* Commands that every file understands. */
#ifndef KCOVBOX_FREEBSD_SYS_FILIO_H
#define KCOVBOX_FREEBSD_SYS_FILIO_H
#include "../../bsd/ioccom.h"
#include "../../bsd/filio.h"
#endif

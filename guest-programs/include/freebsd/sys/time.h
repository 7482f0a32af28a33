/* glibc's, then arithmetic on struct timespec. */
#include_next <sys/time.h>
#ifndef KCOVBOX_FREEBSD_SYS_TIME_H
#define KCOVBOX_FREEBSD_SYS_TIME_H
#include "../../bsd/time.h"
#endif

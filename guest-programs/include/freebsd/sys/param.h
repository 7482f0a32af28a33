/* glibc's, then what only the BSDs have. */
#include_next <sys/param.h>
#ifndef KCOVBOX_FREEBSD_SYS_PARAM_H
#define KCOVBOX_FREEBSD_SYS_PARAM_H
#include "../../bsd/param.h"
#include "../../bsd/cdefs.h"

#define __FreeBSD_version 1403000
#endif

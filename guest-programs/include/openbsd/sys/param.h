/* glibc's, then what only the BSDs have. */
#include_next <sys/param.h>
#ifndef KCOVBOX_OPENBSD_SYS_PARAM_H
#define KCOVBOX_OPENBSD_SYS_PARAM_H
#include "../../bsd/param.h"
#include "../../bsd/cdefs.h"

#define OpenBSD    202510
#define OpenBSD7_8 1
#endif

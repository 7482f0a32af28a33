/* glibc's, then the macros that only the BSDs have. */
#include_next <sys/cdefs.h>
#ifndef KCOVBOX_OPENBSD_SYS_CDEFS_H
#define KCOVBOX_OPENBSD_SYS_CDEFS_H
#include "../../bsd/cdefs.h"
#endif

/* glibc's, then what only the BSDs have. */
#include_next <sys/param.h>
#ifndef KCOVBOX_NETBSD_SYS_PARAM_H
#define KCOVBOX_NETBSD_SYS_PARAM_H
#include "../../bsd/param.h"
#include "../../bsd/cdefs.h"
#endif

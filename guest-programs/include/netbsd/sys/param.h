/* glibc's, then what only the BSDs have. */
#include_next <sys/param.h>
#ifndef KCOVBOX_NETBSD_SYS_PARAM_H
#define KCOVBOX_NETBSD_SYS_PARAM_H
#include "../../bsd/param.h"
#include "../../bsd/cdefs.h"

#define __NetBSD_Version__ 1001000000 /* 10.1 */
#define __NetBSD_Prereq__(major, minor, patch)                                                     \
    (__NetBSD_Version__ >= (major) * 100000000 + (minor) * 1000000 + (patch) * 100)
#endif

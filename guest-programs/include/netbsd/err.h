/* glibc's, then errc(3) and its kin. */
#include_next <err.h>
#ifndef KCOVBOX_NETBSD_ERR_H
#define KCOVBOX_NETBSD_ERR_H
#include "../bsd/err.h"
#endif

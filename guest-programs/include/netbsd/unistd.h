/* glibc's, then pledge(2), unveil(2) and setproctitle(3) that do nothing. */
#include_next <unistd.h>
#ifndef KCOVBOX_NETBSD_UNISTD_H
#define KCOVBOX_NETBSD_UNISTD_H
#include "../bsd/unistd.h"
#endif

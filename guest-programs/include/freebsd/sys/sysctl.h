/* sysctl(3) for the few names that matter here. */
#ifndef KCOVBOX_FREEBSD_SYS_SYSCTL_H
#define KCOVBOX_FREEBSD_SYS_SYSCTL_H
#include "../../bsd/sysctl.h"
#endif

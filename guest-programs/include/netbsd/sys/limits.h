/* Where the BSDs keep the limits. */
#ifndef KCOVBOX_NETBSD_SYS_LIMITS_H
#define KCOVBOX_NETBSD_SYS_LIMITS_H

#include <limits.h>

#endif

/* Where the BSDs keep the limits. */
#ifndef KCOVBOX_NETBSD_MACHINE_LIMITS_H
#define KCOVBOX_NETBSD_MACHINE_LIMITS_H

#include <limits.h>

#endif

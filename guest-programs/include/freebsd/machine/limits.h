/* Where the BSDs keep the limits. */
#ifndef KCOVBOX_FREEBSD_MACHINE_LIMITS_H
#define KCOVBOX_FREEBSD_MACHINE_LIMITS_H

#include <limits.h>

#endif

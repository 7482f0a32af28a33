/* Where the BSDs keep the limits. */
#ifndef KCOVBOX_OPENBSD_MACHINE_LIMITS_H
#define KCOVBOX_OPENBSD_MACHINE_LIMITS_H

#include <limits.h>

#endif

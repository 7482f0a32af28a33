/* Page size and rounding. */
#ifndef KCOVBOX_FREEBSD_MACHINE_PARAM_H
#define KCOVBOX_FREEBSD_MACHINE_PARAM_H
#include "../../bsd/param.h"
#endif

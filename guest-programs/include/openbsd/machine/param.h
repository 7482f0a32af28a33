/* Page size and rounding. */
#ifndef KCOVBOX_OPENBSD_MACHINE_PARAM_H
#define KCOVBOX_OPENBSD_MACHINE_PARAM_H
#include "../../bsd/param.h"
#endif

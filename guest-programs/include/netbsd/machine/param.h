/* Page size and rounding. */
#ifndef KCOVBOX_NETBSD_MACHINE_PARAM_H
#define KCOVBOX_NETBSD_MACHINE_PARAM_H
#include "../../bsd/param.h"
#endif

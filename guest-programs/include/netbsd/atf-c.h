/* ATF's C interface. */
#ifndef KCOVBOX_NETBSD_ATF_C_H
#define KCOVBOX_NETBSD_ATF_C_H
#include "../bsd/atf-c.h"
#endif

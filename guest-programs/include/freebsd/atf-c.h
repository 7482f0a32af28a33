/* ATF's C interface. */
#ifndef KCOVBOX_FREEBSD_ATF_C_H
#define KCOVBOX_FREEBSD_ATF_C_H
#include "../bsd/atf-c.h"
#endif

/* ATF's C interface, complete enough for kcov's own tests. */
#ifndef KCOVBOX_NETBSD_ATF - C_H
#define KCOVBOX_NETBSD_ATF -C_H
#include "../bsd/atf-c.h"
#endif

/* ATF's C interface, complete enough for kcov's own tests. */
#ifndef KCOVBOX_FREEBSD_ATF - C_H
#define KCOVBOX_FREEBSD_ATF -C_H
#include "../bsd/atf-c.h"
#endif

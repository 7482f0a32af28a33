/* Atomic operations under the BSDs' names. */
#ifndef KCOVBOX_NETBSD_SYS_ATOMIC_H
#define KCOVBOX_NETBSD_SYS_ATOMIC_H
#include "../../bsd/atomic.h"
#endif

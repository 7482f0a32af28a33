/* Atomic operations under the BSDs' names. */
#ifndef KCOVBOX_FREEBSD_SYS_ATOMIC_H
#define KCOVBOX_FREEBSD_SYS_ATOMIC_H
#include "../../bsd/atomic.h"
#endif

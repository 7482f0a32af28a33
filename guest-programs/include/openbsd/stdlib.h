/* glibc's, then strtonum(3), getprogname(3) and others. */
#include_next <stdlib.h>
#ifndef KCOVBOX_OPENBSD_STDLIB_H
#define KCOVBOX_OPENBSD_STDLIB_H
#include "../bsd/stdlib.h"
#endif

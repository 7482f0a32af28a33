/* Nothing of libutil is needed. */
#ifndef KCOVBOX_OPENBSD_UTIL_H
#define KCOVBOX_OPENBSD_UTIL_H

#include <stdio.h>
#include <stdlib.h>

#endif

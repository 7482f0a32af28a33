/* Nothing of libutil is needed. */
#ifndef KCOVBOX_FREEBSD_LIBUTIL_H
#define KCOVBOX_FREEBSD_LIBUTIL_H

#include <stdio.h>
#include <stdlib.h>

#endif

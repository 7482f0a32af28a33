/* Nothing of libutil is needed. */
#ifndef KCOVBOX_NETBSD_UTIL_H
#define KCOVBOX_NETBSD_UTIL_H
#include <stdio.h>
#include <stdlib.h>
#endif

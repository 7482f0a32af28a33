/* glibc's, then strlcpy(3) and strlcat(3). */
#include_next <string.h>
#ifndef KCOVBOX_FREEBSD_STRING_H
#define KCOVBOX_FREEBSD_STRING_H
#include "../bsd/string.h"
#endif

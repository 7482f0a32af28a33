/* glibc's, then what only the BSDs have. */
#include_next <unistd.h>
#ifndef KCOVBOX_FREEBSD_UNISTD_H
#define KCOVBOX_FREEBSD_UNISTD_H
#include "../bsd/unistd.h"

/* The optional parts of the kernel that programs around kcov ask for. */
static inline int __attribute__((__unused__)) feature_present(const char *feature)
{
    return __builtin_strcmp(feature, "kcov") == 0 || __builtin_strcmp(feature, "coverage") == 0;
}

#endif

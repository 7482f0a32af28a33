/* Between freebsd.c and freebsd-sysctl.c. */
#pragma once
#include "engine.h"

extern u64 kcov_max_entries;
void kcov_freebsd_init(void);

/* The interface between freebsd.c and freebsd-sysctl.c. */
#pragma once
#include "engine.h"

extern u64 kcov_max_entries; /* words of an area */
void kcov_freebsd_init(void);

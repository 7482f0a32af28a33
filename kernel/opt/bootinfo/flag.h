/* flag.h: words of the command line that are there or not. */
#pragma once
#include "klib.h"

static inline bool cmdline_flag(const char *key)
{
    char value[2];
    return cmdline_get(key, value, sizeof(value)) != NULL;
}

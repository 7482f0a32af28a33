/* timeval.h: struct timeval of Linux/riscv64, for several options. */
#pragma once
#include "types.h"

struct timeval64 {
    i64 sec, usec;
};

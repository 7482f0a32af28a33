/* numbers.h: limits that only options know; abi/sched.h has the others. */
#pragma once
#include "abi/sched.h"

#define RLIMIT_DATA   2
#define RLIMIT_STACK  3
#define RLIMIT_CORE   4
#define RLIMIT_NPROC  6
#define RLIMIT_NICE   13
#define RLIMIT_RTPRIO 14

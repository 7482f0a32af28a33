/* numbers.h: limits that only options know; abi/sched.h has the others. */
#pragma once
#include "abi/sched.h"

#define RLIMIT_CORE   4
#define RLIMIT_NICE   13
#define RLIMIT_RTPRIO 14

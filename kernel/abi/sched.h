/* clone(2), wait(2), futex(2), limits and clocks, Linux numbers. */
#pragma once

#define CLONE_VM             0x00000100
#define CLONE_FS             0x00000200
#define CLONE_FILES          0x00000400
#define CLONE_SIGHAND        0x00000800
#define CLONE_VFORK          0x00004000
#define CLONE_THREAD         0x00010000
#define CLONE_SYSVSEM        0x00040000
#define CLONE_SETTLS         0x00080000
#define CLONE_PARENT_SETTID  0x00100000
#define CLONE_CHILD_CLEARTID 0x00200000
#define CLONE_DETACHED       0x00400000
#define CLONE_CHILD_SETTID   0x01000000
#define CLONE_CSIGNAL        0x000000ff

#define WNOHANG   1
#define WUNTRACED 2

#define FUTEX_WAIT           0
#define FUTEX_WAKE           1
#define FUTEX_WAIT_BITSET    9
#define FUTEX_CLOCK_REALTIME 256
#define FUTEX_ANY            0xffffffffu

#define CLOCK_REALTIME         0
#define CLOCK_MONOTONIC        1
#define CLOCK_MONOTONIC_RAW    4
#define CLOCK_REALTIME_COARSE  5
#define CLOCK_MONOTONIC_COARSE 6
#define CLOCK_BOOTTIME         7
#define TIMER_ABSTIME          1

#define RLIMIT_FSIZE  1
#define RLIMIT_NOFILE 7
#define RLIMIT_AS     9
#define RLIM_INFINITY (~0UL)

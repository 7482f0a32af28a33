/* wait.h: what wait4 and waitid share. */
#pragma once

#include "proc/internal.h"
#include "optional.h"

#define WSTOPPED   2
#define WEXITED    4
#define WCONTINUED 8
#define WNOWAIT    0x01000000
#define WCLONE     0x80000000u
#define WALL       0x40000000u
#define P_ALL      0
#define P_PID      1
#define P_PGID     2
#define P_PIDFD    3

struct wait_request {
    int type, id; /* P_ALL, P_PID, P_PGID */
    u32 options;
};

struct wait_result {
    int pid, status;
    u32 uid;
    u64 utime, stime, switches[2]; /* opt/cpuclock */
};

/* 1 with an event in *out; 0: none yet, with WNOHANG; -ECHILD, -ERESTARTSYS. */
long do_wait(const struct wait_request *rq, struct wait_result *out);
void wait_describe(struct wait_result *out, const struct proc *child, int status);
/* opt/terminal: takes the event of a child that stopped or continued, if it is wanted. Locked. */
OPTIONAL(CONFIG_TERMINAL, bool, take_stop,
         (struct proc *child, const struct wait_request *rq, struct wait_result *out), false)
#define RUSAGE_BYTES 144
/* opt/cpuclock */
OPTIONAL(CONFIG_CPUCLOCK, void, usage_get, (struct wait_result *out, const struct proc *child))
/* The child is gone; its parent keeps what it used. Locked. */
OPTIONAL(CONFIG_CPUCLOCK, void, usage_keep, (const struct wait_result *r))
/* struct rusage of the child. Without it nobody knows what a child used: zeros. */
OPTIONAL(CONFIG_CPUCLOCK, long, put_rusage, (va_t addr, const struct wait_result *r),
         user_zero(addr, RUSAGE_BYTES))

/* siginfo.h: what programs learn of a signal. */
#pragma once

/* si_code */
#define SI_QUEUE      (-1)
#define SI_TIMER      (-2)
#define CLD_EXITED    1
#define CLD_KILLED    2
#define CLD_DUMPED    3
#define CLD_STOPPED   5
#define CLD_CONTINUED 6

typedef union {
    struct {
        int si_signo, si_errno, si_code, pad;
        union {
            struct { /* kill, SIGCHLD */
                int pid;
                unsigned uid;
                int status; /* or the low half of sigval */
                long utime, stime;
            } kill;
            struct { /* sigqueue */
                int pid;
                unsigned uid;
                unsigned long value;
            } rt;
            struct { /* timers */
                int tid, overrun;
                unsigned long value;
            } timer;
            struct { /* SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP */
                unsigned long addr;
            } fault;
            struct {
                long band;
                int fd;
            } poll;
        };
    };
    char bytes[128];
} siginfo_t;
_Static_assert(sizeof(siginfo_t) == 128, "siginfo_t is 128 bytes");

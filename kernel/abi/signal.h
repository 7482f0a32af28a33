/* Signals as Linux/riscv64 programs see them. */
#pragma once

#define SIGHUP    1
#define SIGINT    2
#define SIGQUIT   3
#define SIGILL    4
#define SIGTRAP   5
#define SIGABRT   6
#define SIGBUS    7
#define SIGFPE    8
#define SIGKILL   9
#define SIGUSR1   10
#define SIGSEGV   11
#define SIGUSR2   12
#define SIGPIPE   13
#define SIGALRM   14
#define SIGTERM   15
#define SIGSTKFLT 16
#define SIGCHLD   17
#define SIGCONT   18
#define SIGSTOP   19
#define SIGTSTP   20
#define SIGTTIN   21
#define SIGTTOU   22
#define SIGURG    23
#define SIGXCPU   24
#define SIGXFSZ   25
#define SIGVTALRM 26
#define SIGPROF   27
#define SIGWINCH  28
#define SIGIO     29
#define SIGPWR    30
#define SIGSYS    31
#define SIGRTMIN  32
#define NSIG      64

#define SIG_DFL 0UL
#define SIG_IGN 1UL

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 0x00000001UL
#define SA_NOCLDWAIT 0x00000002UL

/* si_code; opt/siginfo has the others */
#define SI_USER     0
#define SI_KERNEL   0x80
#define SI_TKILL    (-6)
#define ILL_ILLOPC  1
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define BUS_ADRERR  2
#define TRAP_BRKPT  1

typedef unsigned long sigset_t;
#define SIGBIT(sig) (1UL << ((sig) - 1))

struct k_sigaction { /* rt_sigaction(2); riscv has no restorer field */
    unsigned long handler;
    unsigned long flags;
    sigset_t mask;
};

/* Without SIGINFO, programs learn no more of a signal than its number. */
#ifdef CONFIG_SIGINFO
#include "opt/siginfo/siginfo.h"
#else
typedef struct {
    int si_signo;
} siginfo_t;
#endif

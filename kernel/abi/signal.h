/* Signals as Linux/riscv64 programs see them. */
#pragma once

/* opt/signals/numbers.h has those that only options send or name. */
#define SIGILL   4
#define SIGTRAP  5
#define SIGBUS   7
#define SIGFPE   8
#define SIGKILL  9
#define SIGSEGV  11
#define SIGPIPE  13
#define SIGCHLD  17
#define SIGCONT  18
#define SIGSTOP  19
#define SIGTSTP  20
#define SIGTTIN  21
#define SIGTTOU  22
#define SIGURG   23
#define SIGXFSZ  25
#define SIGWINCH 28
#define NSIG     64

#define SIG_DFL 0UL
#define SIG_IGN 1UL

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDWAIT 0x00000002UL

/* si_code; opt/siginfo has the others */
#define SI_KERNEL   0x80
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

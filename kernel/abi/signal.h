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
#define SA_SIGINFO   0x00000004UL
#define SA_ONSTACK   0x08000000UL
#define SA_RESTART   0x10000000UL
#define SA_NODEFER   0x40000000UL
#define SA_RESETHAND 0x80000000UL

#define SS_DISABLE 2

/* si_code */
#define SI_USER       0
#define SI_KERNEL     0x80
#define SI_QUEUE      (-1)
#define SI_TIMER      (-2)
#define SI_TKILL      (-6)
#define ILL_ILLOPC    1
#define FPE_INTDIV    1
#define SEGV_MAPERR   1
#define SEGV_ACCERR   2
#define BUS_ADRALN    1
#define BUS_ADRERR    2
#define TRAP_BRKPT    1
#define CLD_EXITED    1
#define CLD_KILLED    2
#define CLD_DUMPED    3
#define CLD_TRAPPED   4
#define CLD_STOPPED   5
#define CLD_CONTINUED 6

typedef unsigned long sigset_t;
#define SIGBIT(sig) (1UL << ((sig) - 1))

struct k_sigaction { /* rt_sigaction(2); riscv has no restorer field */
    unsigned long handler;
    unsigned long flags;
    sigset_t mask;
};

struct sigaltstack {
    unsigned long sp;
    int flags;
    unsigned long size;
};

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

/* numbers.h: signals, flags and codes that only options know; abi/signal.h has the others. */
#pragma once
#include "abi/signal.h"

#define SIGHUP    1
#define SIGINT    2
#define SIGQUIT   3
#define SIGALRM   14
#define SIGVTALRM 26
#define SIGPROF   27
#define SIGIO     29
#define SIGRTMIN  32

#define SA_NOCLDSTOP 0x00000001UL

/* si_code; opt/siginfo has the others */
#define SI_USER  0
#define SI_TKILL (-6)

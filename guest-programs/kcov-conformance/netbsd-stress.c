/* Random use of kcov by many threads, netbsd dialect; see stress.h. */
#define DIALECT_NETBSD
#include "stress.h"

/* Random use of kcov by many threads, freebsd dialect; see stress.h. */
#define DIALECT_FREEBSD
#include "stress.h"

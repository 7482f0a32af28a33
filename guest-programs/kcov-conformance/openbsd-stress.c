/* Random use of kcov by many threads, openbsd dialect; see stress.h. */
#define DIALECT_OPENBSD
#include "stress.h"

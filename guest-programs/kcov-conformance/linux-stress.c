/* Random use of kcov by many threads, linux dialect; see stress.h. */
#define DIALECT_LINUX
#include "stress.h"

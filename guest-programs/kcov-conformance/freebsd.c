/* The conformance table of the freebsd dialect, run in the guest; see conformance.h and
 * freebsd.def. */
#define DIALECT_FREEBSD
#define TABLE "freebsd.def"
#include "conformance.h"

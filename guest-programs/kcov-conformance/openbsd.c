/* The conformance table of the openbsd dialect, run in the guest; see conformance.h and
 * openbsd.def. */
#define DIALECT_OPENBSD
#define TABLE "openbsd.def"
#include "conformance.h"

/* The conformance table of the linux dialect, run in the guest; see conformance.h and linux.def. */
#define DIALECT_LINUX
#define TABLE "linux.def"
#include "conformance.h"

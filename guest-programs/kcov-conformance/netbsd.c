/* The conformance table of the netbsd dialect, run in the guest; see conformance.h and netbsd.def.
 */
#define DIALECT_NETBSD
#define TABLE "netbsd.def"
#include "conformance.h"

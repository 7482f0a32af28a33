/* Behaviours of the netbsd dialect, tested in the guest; see behaviour.h. */
#define DIALECT_NETBSD
#include "behaviour.h"

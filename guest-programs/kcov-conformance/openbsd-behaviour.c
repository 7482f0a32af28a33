/* Behaviours of the openbsd dialect, tested in the guest; see behaviour.h. */
#define DIALECT_OPENBSD
#include "behaviour.h"

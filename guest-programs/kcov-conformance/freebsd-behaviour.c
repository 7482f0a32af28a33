/* Behaviours of the freebsd dialect, tested in the guest; see behaviour.h. */
#define DIALECT_FREEBSD
#include "behaviour.h"

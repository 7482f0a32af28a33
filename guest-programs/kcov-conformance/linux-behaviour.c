/* Behaviours of the linux dialect, tested in the guest; see behaviour.h. */
#define DIALECT_LINUX
#include "behaviour.h"

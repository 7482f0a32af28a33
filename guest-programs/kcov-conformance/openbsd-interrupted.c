#define DIALECT_OPENBSD
#include "interrupted.h"

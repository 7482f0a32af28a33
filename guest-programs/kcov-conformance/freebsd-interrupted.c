#define DIALECT_FREEBSD
#include "interrupted.h"

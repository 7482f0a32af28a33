#define DIALECT_NETBSD
#include "interrupted.h"

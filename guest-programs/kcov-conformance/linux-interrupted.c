#define DIALECT_LINUX
#include "interrupted.h"

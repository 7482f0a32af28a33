#define DIALECT_LINUX
#define KCOV_PLAIN
#include "behaviour.h"

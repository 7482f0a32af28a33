/* The table of a Linux kernel without the UNIQ series: a real one, or CONF=linux+no-uniq. */
#define DIALECT_LINUX
#define KCOV_PLAIN
#define TABLE "linux.def"
#include "conformance.h"

/* Fingerprint of the netbsd dialect's records; see fingerprint.h. */
#define DIALECT_NETBSD
#include "fingerprint.h"

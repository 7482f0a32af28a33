/* Fingerprint of the freebsd dialect's records; see fingerprint.h. */
#define DIALECT_FREEBSD
#include "fingerprint.h"

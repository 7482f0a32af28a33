/* Fingerprint of the openbsd dialect's records; see fingerprint.h. */
#define DIALECT_OPENBSD
#include "fingerprint.h"

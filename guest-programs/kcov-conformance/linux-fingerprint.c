/* Fingerprint of the linux dialect's records; see fingerprint.h. */
#define DIALECT_LINUX
#include "fingerprint.h"

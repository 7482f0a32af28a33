/* Where the BSDs keep the integer types. */
#ifndef KCOVBOX_OPENBSD_SYS_STDINT_H
#define KCOVBOX_OPENBSD_SYS_STDINT_H
#include <stdint.h>
#endif

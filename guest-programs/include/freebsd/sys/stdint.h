/* Where the BSDs keep the integer types. */
#ifndef KCOVBOX_FREEBSD_SYS_STDINT_H
#define KCOVBOX_FREEBSD_SYS_STDINT_H
#include <stdint.h>
#endif

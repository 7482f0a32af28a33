/* Byte order. */
#ifndef KCOVBOX_OPENBSD_MACHINE_ENDIAN_H
#define KCOVBOX_OPENBSD_MACHINE_ENDIAN_H
#include <endian.h>
#endif

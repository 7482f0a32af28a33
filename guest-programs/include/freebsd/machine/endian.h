/* Byte order. */
#ifndef KCOVBOX_FREEBSD_MACHINE_ENDIAN_H
#define KCOVBOX_FREEBSD_MACHINE_ENDIAN_H
#include <endian.h>
#endif

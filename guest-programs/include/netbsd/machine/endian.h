/* Byte order. */
#ifndef KCOVBOX_NETBSD_MACHINE_ENDIAN_H
#define KCOVBOX_NETBSD_MACHINE_ENDIAN_H
#include <endian.h>
#endif

/* Byte order. */
#ifndef KCOVBOX_FREEBSD_SYS_ENDIAN_H
#define KCOVBOX_FREEBSD_SYS_ENDIAN_H
#include <endian.h>
#endif

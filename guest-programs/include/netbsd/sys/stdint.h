/* Where the BSDs keep the integer types. */
#ifndef KCOVBOX_NETBSD_SYS_STDINT_H
#define KCOVBOX_NETBSD_SYS_STDINT_H
#include <stdint.h>
#endif

/* kqueue(2). */
#ifndef KCOVBOX_NETBSD_SYS_EVENT_H
#define KCOVBOX_NETBSD_SYS_EVENT_H
#include "../../bsd/event.h"
#endif

/* kqueue(2). */
#ifndef KCOVBOX_FREEBSD_SYS_EVENT_H
#define KCOVBOX_FREEBSD_SYS_EVENT_H
#include "../../bsd/event.h"
#endif

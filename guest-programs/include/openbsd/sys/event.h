/* kqueue(2). */
#ifndef KCOVBOX_OPENBSD_SYS_EVENT_H
#define KCOVBOX_OPENBSD_SYS_EVENT_H
#include "../../bsd/event.h"
#endif

/* glibc's, then the safe iterations. */
#include_next <sys/queue.h>
#ifndef KCOVBOX_FREEBSD_SYS_QUEUE_H
#define KCOVBOX_FREEBSD_SYS_QUEUE_H
#include "../../bsd/queue.h"
#endif

/* Commands that every file understands, with Linux's numbers, as the guest kernel has them. */
#ifndef KCOVBOX_BSD_FILIO_H
#define KCOVBOX_BSD_FILIO_H

#include <asm/ioctls.h>

#endif

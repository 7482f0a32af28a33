/* Commands that every file understands: Linux's numbers, which the kernel of the guest takes. */
#ifndef KCOVBOX_BSD_FILIO_H
#define KCOVBOX_BSD_FILIO_H

#include <asm/ioctls.h>

#endif

/* Thread extensions of the BSDs. */
#ifndef KCOVBOX_FREEBSD_PTHREAD_NP_H
#define KCOVBOX_FREEBSD_PTHREAD_NP_H
#include "../bsd/pthread_np.h"
#endif

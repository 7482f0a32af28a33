/* Thread extensions of the BSDs. */
#ifndef KCOVBOX_OPENBSD_PTHREAD_NP_H
#define KCOVBOX_OPENBSD_PTHREAD_NP_H
#include "../bsd/pthread_np.h"
#endif

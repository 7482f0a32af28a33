/* Thread extensions of OpenBSD and FreeBSD. */
#ifndef KCOVBOX_BSD_PTHREAD_NP_H
#define KCOVBOX_BSD_PTHREAD_NP_H

#include <pthread.h>
#include <unistd.h>

static inline int __attribute__((__unused__)) pthread_getthreadid_np(void)
{
    return gettid();
}

static inline int __attribute__((__unused__)) pthread_main_np(void)
{
    return gettid() == getpid();
}

static inline void __attribute__((__unused__)) pthread_set_name_np(pthread_t thread,
                                                                   const char *name)
{
    (void)pthread_setname_np(thread, name);
}

static inline void __attribute__((__unused__)) pthread_get_name_np(pthread_t thread, char *name,
                                                                   size_t size)
{
    (void)pthread_getname_np(thread, name, size);
}

#endif

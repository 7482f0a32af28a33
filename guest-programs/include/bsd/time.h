/* Arithmetic on struct timespec, as in the BSDs' <sys/time.h>. */
#ifndef KCOVBOX_BSD_TIME_H
#define KCOVBOX_BSD_TIME_H

#include <time.h>

#ifndef timespecclear
#define timespecclear(t) ((t)->tv_sec = (t)->tv_nsec = 0)
#define timespecisset(t) ((t)->tv_sec || (t)->tv_nsec)
#define timespeccmp(a, b, op)                                                                      \
    ((a)->tv_sec == (b)->tv_sec ? (a)->tv_nsec op(b)->tv_nsec : (a)->tv_sec op(b)->tv_sec)
#define timespecadd(a, b, sum)                                                                     \
    do {                                                                                           \
        (sum)->tv_sec = (a)->tv_sec + (b)->tv_sec;                                                 \
        (sum)->tv_nsec = (a)->tv_nsec + (b)->tv_nsec;                                              \
        if ((sum)->tv_nsec >= 1000000000L) {                                                       \
            (sum)->tv_sec++;                                                                       \
            (sum)->tv_nsec -= 1000000000L;                                                         \
        }                                                                                          \
    } while (0)
#define timespecsub(a, b, difference)                                                              \
    do {                                                                                           \
        (difference)->tv_sec = (a)->tv_sec - (b)->tv_sec;                                          \
        (difference)->tv_nsec = (a)->tv_nsec - (b)->tv_nsec;                                       \
        if ((difference)->tv_nsec < 0) {                                                           \
            (difference)->tv_sec--;                                                                \
            (difference)->tv_nsec += 1000000000L;                                                  \
        }                                                                                          \
    } while (0)
#endif

#endif
